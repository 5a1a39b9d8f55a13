defmodule Bench.Http.Server do
  @moduledoc "A server in a separate OS process, which the benchmark starts and ends."

  @enforce_keys [:name, :port, :os_pid, :input]
  defstruct [:name, :port, :os_pid, :input, scheme: "http", sessions: []]

  @type t :: %__MODULE__{
          name: String.t(),
          port: :inet.port_number(),
          os_pid: pos_integer(),
          input: port(),
          scheme: String.t(),
          sessions: [String.t()]
        }

  @doc "Starts a server, which prints its port and its process id in one line."
  @spec start(String.t(), [String.t()]) :: t()
  def start(name, [command | arguments]) do
    options = [:binary, :exit_status, args: arguments, line: 1000, cd: Path.expand("../..", __DIR__)]
    input = Port.open({:spawn_executable, command}, options)
    [port, os_pid] = input |> await_line(name) |> String.split() |> Enum.map(&String.to_integer/1)
    %__MODULE__{name: name, port: port, os_pid: os_pid, input: input}
  end

  defp await_line(input, name) do
    receive do
      {^input, {:data, {:eol, line}}} -> line
      {^input, {:exit_status, status}} -> raise "the server #{name} ended with exit status #{status}"
    after
      60_000 -> raise "the server #{name} has not started within a minute"
    end
  end

  @doc "The server's URL."
  @spec url(t()) :: String.t()
  def url(server), do: "#{server.scheme}://127.0.0.1:#{server.port}/mcp"

  @doc "Closes the stdin of a server, and waits for its end."
  @spec stop(t()) :: :ok
  def stop(server) do
    Port.close(server.input)
    await_end(server)
  end

  defp await_end(server) do
    if File.exists?("/proc/#{server.os_pid}/stat") do
      Process.sleep(20)
      await_end(server)
    else
      :ok
    end
  end

  @doc "Microseconds of processor time since the start of the server, including kernel time."
  @spec processor_us(t()) :: non_neg_integer()
  def processor_us(server) do
    # The second field is the name in parentheses, which may contain any character.
    [_pid_and_name, figures] = String.split(File.read!("/proc/#{server.os_pid}/stat"), ") ", parts: 2)
    [user, system] = figures |> String.split() |> Enum.slice(11, 2) |> Enum.map(&String.to_integer/1)
    div((user + system) * 1_000_000, ticks_per_second())
  end

  defp ticks_per_second do
    {ticks, 0} = System.cmd("getconf", ["CLK_TCK"])
    ticks |> String.trim() |> String.to_integer()
  end

  @doc "KiB of memory in use by the server."
  @spec memory_kib(t()) :: non_neg_integer()
  def memory_kib(server) do
    [_line, kib] = Regex.run(~r/^VmRSS:\s+(\d+) kB$/m, File.read!("/proc/#{server.os_pid}/status"))
    String.to_integer(kib)
  end
end
