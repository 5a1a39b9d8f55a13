defmodule McpServer.HttpPlug.Drainer do
  @moduledoc """
  Ends sessions and streams of `McpServer.HttpPlug` gracefully when the application stops.

  A plug does not know when its web server stops. The server closes its port and waits for its connections, and streams
  stay open until it closes them. As the last child, after the web server, the drainer stops first:

      children = [
        MyApp.Repo,
        MyAppWeb.Endpoint,
        {McpServer.HttpPlug.Drainer, router: MyApp.MCP}
      ]

  Running calls of sessions get `:drain` milliseconds to finish; unfinished calls get the answer
  `The server is shutting down`. The stream of a session ends with the event that tells its client when to reconnect
  (2025-11-25). A `subscriptions/listen` stream ends as the protocol requires (2026-07-28). `McpServer.HttpServer` needs
  no drainer.

  ## Options

  #{McpServer.Options.document(McpServer.ServerOptions.drainer())}
  """

  use GenServer

  alias McpServer.{Changes, Options, ServerOptions}
  alias McpServer.Http.Sessions

  # The interval between checks for remaining sessions, and the time to write the final responses, in milliseconds.
  @look_ms 20
  @last_words_ms 1_000

  @type option :: {:router, module()} | {:drain, pos_integer()}

  @doc false
  @spec child_spec([option()]) :: Supervisor.child_spec()
  def child_spec(options) do
    checked = checked(options)

    %{
      id: {__MODULE__, checked.router},
      start: {__MODULE__, :start_link, [options]},
      shutdown: checked.drain + 5_000
    }
  end

  defp checked(options), do: Options.check!(inspect(__MODULE__), ServerOptions.drainer(), options)

  @doc """
  Starts the drainer, linked to the calling process. Usually a supervisor calls it.

  Raises `ArgumentError` for unknown or invalid options.
  """
  @spec start_link([option()]) :: GenServer.on_start()
  def start_link(options), do: GenServer.start_link(__MODULE__, checked(options))

  @impl true
  def init(options) do
    Process.flag(:trap_exit, true)
    {:ok, Map.put(options, :last_words, @last_words_ms)}
  end

  @impl true
  def terminate(_reason, %{router: router, drain: drain, last_words: last_words}) do
    until = now() + drain
    Changes.drain_here(router, until)
    mounts = for {:plug, _options} = mount <- Sessions.mounts(router), do: mount
    sessions = Enum.flat_map(mounts, &Sessions.processes/1)
    Enum.each(mounts, &Sessions.drain/1)
    wait(sessions, until)
    for pid <- sessions, do: Sessions.shut_down_one(pid)
    wait(sessions, until + last_words)
  end

  defp wait(sessions, until) do
    if Enum.any?(sessions, &Process.alive?/1) and now() < until do
      Process.sleep(@look_ms)
      wait(sessions, until)
    end
  end

  defp now, do: System.monotonic_time(:millisecond)
end
