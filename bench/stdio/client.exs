defmodule Bench.Stdio.Client do
  @moduledoc "A server and its client, `bench/yardsticks/stdio_client`, as two OS processes."

  @enforce_keys [:name, :port]
  defstruct [:name, :port]

  @type t :: %__MODULE__{name: String.t(), port: port()}

  @doc "Starts a client, which starts the server, sends `opening` to it and loads the lines of the other file."
  @spec start(String.t(), [String.t()], client :: Path.t(), opening :: Path.t(), lines :: Path.t()) :: t()
  def start(name, command, client, opening, lines) do
    arguments = [opening, lines | command]
    options = [:binary, :exit_status, args: arguments, line: 10_000, cd: Path.expand("../..", __DIR__)]
    %__MODULE__{name: name, port: Port.open({:spawn_executable, client}, options)}
  end

  @doc "The answer to the first line."
  @spec ask(t()) :: String.t()
  def ask(client), do: command(client, "ask")

  @doc "Sends all lines at once: microseconds, microseconds of the server's processor time, bytes of the answers."
  @spec pipelined(t()) :: %{elapsed: integer(), processor: integer(), bytes: integer()}
  def pipelined(client) do
    [elapsed, processor, bytes] = numbers(client, "pipelined")
    %{elapsed: elapsed, processor: processor, bytes: bytes}
  end

  @doc "Sends one line after the other: microseconds of the server's processor time, nanoseconds of round trips."
  @spec sequential(t()) :: %{processor: integer(), p50: integer(), p99: integer()}
  def sequential(client) do
    [processor, p50, p99] = numbers(client, "sequential")
    %{processor: processor, p50: p50, p99: p99}
  end

  defp numbers(client, word), do: client |> command(word) |> String.split() |> Enum.map(&String.to_integer/1)

  defp command(%{port: port, name: name}, word) do
    Port.command(port, [word, ?\n])

    receive do
      {^port, {:data, {:eol, line}}} -> line
      {^port, {:exit_status, status}} -> raise "the client of #{name} ended with exit status #{status}"
    after
      300_000 -> raise "#{name} has not answered for five minutes"
    end
  end

  @doc "Closes the server's stdin, which ends the server and the client."
  @spec stop(t()) :: :ok
  def stop(client) do
    Port.close(client.port)
    :ok
  end
end
