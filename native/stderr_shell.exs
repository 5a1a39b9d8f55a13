defmodule McpServer.StderrShell do
  @moduledoc """
  Keeps stdout clean during the start of `mix mcp.stdio` and other tasks whose stdout programs read.

  Their stdout carries messages or results, and Mix may have to compile first. The output of Mix and of macros,
  and the log, go to stderr. `mix.exs` loads this file before Mix compiles anything.
  """
  @behaviour Mix.Shell

  @doc "Sends all output to stderr from now on."
  def install do
    Mix.shell(__MODULE__)
    # This process starts compilers and applications, and they inherit its output.
    Process.group_leader(self(), Process.whereis(:standard_error))
    redirect_log(:logger.get_handler_config(:default))
    # The output of Logger once it starts: before Elixir 1.15, and since 1.15.
    put_logger(:console, &Keyword.put(&1, :device, :standard_error))

    put_logger(
      :default_handler,
      &Keyword.update(&1, :config, [type: :standard_error], fn given -> to_stderr(given) end)
    )
  end

  defp redirect_log({:ok, %{module: module, config: %{type: :standard_io}} = handler}) do
    :ok = :logger.remove_handler(:default)
    :ok = :logger.add_handler(:default, module, %{handler | config: %{type: :standard_error}})
  end

  defp redirect_log(_other), do: :ok

  # `false` means no handler.
  defp put_logger(key, change) do
    options = Application.get_env(:logger, key, [])
    if is_list(options), do: Application.put_env(:logger, key, change.(options))
  end

  defp to_stderr(given), do: given |> Map.new() |> Map.put(:type, :standard_error)

  @impl true
  def print_app, do: if(name = Mix.Shell.printable_app_name(), do: info(["==> ", to_string(name)]))

  @impl true
  def info(message), do: IO.puts(:stderr, IO.ANSI.format(message, false))

  @impl true
  def error(message), do: info(message)

  @impl true
  def cmd(command, options \\ []), do: Mix.Shell.cmd(command, options, &IO.write(:stderr, &1))

  # No user can answer: stdin belongs to the client.
  @impl true
  def prompt(message), do: info(message) && ""

  @impl true
  def yes?(message, _options \\ []), do: info(message) != :ok
end

McpServer.StderrShell.install()
