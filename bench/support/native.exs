defmodule Bench.Native do
  @moduledoc """
  Measurements of native Rust with the program of `bench/yardsticks/sonic`, which takes turns with this VM.

  It measures sonic-rs with native structs, and `serde_json::Value`.
  """

  @sonic Path.expand("../yardsticks/sonic/build", __DIR__)

  @opaque t :: %{port: port(), folder: Path.t()}

  @doc "Builds and starts the program; workloads are texts, or a schema and a value. On failure it prints why: `nil`."
  @spec start([{name :: String.t(), [iodata()]}]) :: t() | nil
  def start(workloads) do
    case System.cmd(@sonic, []) do
      {path, 0} ->
        folder = Path.join(System.tmp_dir!(), "mcp_server_bench_#{System.pid()}_#{System.unique_integer([:positive])}")
        File.mkdir_p!(folder)
        arguments = for {name, texts} <- workloads, do: "#{name}=#{Enum.join(files!(folder, name, texts), ",")}"
        options = [:binary, :exit_status, line: 1000, args: arguments]
        %{port: Port.open({:spawn_executable, String.trim(path)}, options), folder: folder}

      {_output, _status} ->
        IO.puts("native Rust is not measured: its yardstick could not be built, see above")
        nil
    end
  end

  @doc "A contender for a task, named as in the program."
  @spec task(t(), String.t()) :: (pos_integer() -> Bench.Measure.time())
  def task(%{port: port}, task) do
    fn calls ->
      Port.command(port, "#{calls} #{task}\n")

      receive do
        {^port, {:data, {:eol, line}}} ->
          [cpu, wall] = line |> String.split() |> Enum.map(&String.to_float/1)
          %{cpu: cpu, wall: wall}

        {^port, {:exit_status, status}} ->
          raise "the native yardstick ended with status #{status} at: #{task}"
      end
    end
  end

  @doc "Ends the program."
  @spec stop(t()) :: :ok
  def stop(%{port: port, folder: folder}) do
    Port.close(port)
    File.rm_rf!(folder)
    :ok
  end

  defp files!(folder, name, texts) do
    for {text, index} <- Enum.with_index(texts) do
      file = Path.join(folder, "#{String.replace(name, ~r/\W/, "_")}_#{index}.json")
      File.write!(file, text)
      file
    end
  end
end
