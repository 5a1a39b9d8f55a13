defmodule Mix.McpServer.Serving do
  # Serves over HTTP until SIGTERM, for `mix mcp.http` and `mix mcp.playground`.
  @moduledoc false

  alias McpServer.HttpServer

  @doc "Starts the server, prints the line for its port to stderr, and ends the VM after SIGTERM."
  @spec run(keyword(), (:inet.port_number() -> String.t())) :: no_return()
  def run(options, line) do
    # The line printed below has the same information.
    Logger.put_module_level(HttpServer, :warning)
    supervisor = start!(options)
    [{_id, server, _type, _modules}] = Supervisor.which_children(supervisor)
    stop_on_sigterm()
    IO.puts(:stderr, line.(HttpServer.port(server)))

    receive do
      :stop -> Supervisor.stop(supervisor)
    end

    System.stop()
    Process.sleep(:infinity)
  end

  defp start!(options) do
    # A failed supervisor would end this process too, but this process has a better error text.
    Process.flag(:trap_exit, true)

    case Supervisor.start_link([{HttpServer, options}], strategy: :one_for_one) do
      {:ok, supervisor} -> supervisor
      {:error, {:shutdown, {:failed_to_start_child, _id, reason}}} -> Mix.raise(sentence(reason, options[:port]))
    end
  end

  defp sentence(:eaddrinuse, port), do: "port #{port} is taken: choose another one with --port, or 0 for a free one"
  defp sentence(reason, port), do: "cannot listen on port #{port}: #{inspect(reason)}"

  # Erlang's own handler would stop the application while calls still need it.
  defp stop_on_sigterm do
    task = self()

    {:ok, _id} =
      System.trap_signal(:sigterm, fn ->
        send(task, :stop)
        :ok
      end)

    :gen_event.delete_handler(:erl_signal_server, :erl_signal_handler, :trapped)
  end
end
