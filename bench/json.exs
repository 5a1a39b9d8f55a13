defmodule Bench.Json do
  @moduledoc """
  Encoding and decoding of the workloads W1 to W6, in turns with the yardsticks:

    * jiffy, Debian's `erlang-jiffy`, with prepared maps;
    * sonic-rs, native Rust, which writes and reads Rust structs: no BEAM, no terms;
    * `serde_json::Value`, native Rust, which writes an existing tree and reads into a tree;
    * Jason, if it can be loaded: `BENCH_JASON` names the folder of its beam files;
    * Elixir's `JSON`, if it exists.

  Each encoder returns one binary; jiffy returns its default output. In W2 ours encodes structs, the others encode maps.

  All results are compared before the measurements: written texts must read back to the same value, and read values must
  be equal. Times are microseconds of processor time, with wall time in brackets; a ratio is a yardstick's time divided
  by ours.
  """

  alias Bench.{Measure, Native, Workloads}
  alias McpServer.JSON, as: Ours

  # W6 exceeds the limits of a message: longer texts than this are read with other limits.
  @most_bytes 2_000_000
  @limits [max_bytes: 1_000_000_000, max_values: 10_000_000]

  # The least speed compared with a yardstick, by workload.
  @encode %{
    "jiffy" => %{"W2" => 3, "W4" => 3, "W6" => 3},
    "Jason" => %{"W2" => 10, "W3a" => 30, "W3b" => 16, "W4" => 10, "W6" => 13}
  }
  # The most time compared with sonic-rs writing native structs.
  @native %{"W2" => 2, "W3a" => 1.25, "W3b" => 1.25, "W4" => 2.2, "W6" => 2.2}
  @decode %{
    "jiffy" => %{"W2" => 4, "W4" => 4},
    "Jason" => %{"W1" => 2, "W2" => 3.5, "W4" => 5}
  }

  @doc "Whether Jason is available, loaded from `BENCH_JASON` if that is set."
  @spec jason?() :: boolean()
  def jason? do
    with path when is_binary(path) <- System.get_env("BENCH_JASON"), do: Code.append_path(path)
    Code.ensure_loaded?(Jason)
  end

  def run do
    workloads = for {name, ours, plain} <- Workloads.all(), do: {name, ours, plain, Ours.encode!(plain)}
    native = Native.start(for {name, _ours, _plain, text} <- workloads, do: {name, [text]})
    jason? = jason?()
    encodes = for {name, ours, plain, _text} <- workloads, do: {name, encode(name, ours, plain, native, jason?)}
    decodes = for {name, _ours, _plain, text} <- workloads, do: {name, decode(name, text, native, jason?)}
    if native, do: Native.stop(native)

    print("Encode", encodes)
    print("Decode", decodes)
    unless jason?, do: IO.puts("\nJason is not there: BENCH_JASON names the folder of its beam files")
    targets("encode", encodes, @encode) ++ native_targets(encodes) ++ targets("decode", decodes, @decode)
  end

  defp encode(name, ours, plain, native, jason?) do
    contenders = [{"ours", fn -> Ours.encode_to_iodata!(ours) end} | encoders(plain, jason?)]
    same!("encode", name, for({_, run} <- contenders, do: Ours.decode!(IO.iodata_to_binary(run.()), @limits)))
    Measure.timings(contenders ++ native("encode", name, native))
  end

  defp decode(name, text, native, jason?) do
    options = if byte_size(text) > @most_bytes, do: @limits, else: []
    contenders = [{"ours", fn -> Ours.decode!(text, options) end} | decoders(text, jason?)]
    same!("decode", name, for({_, run} <- contenders, do: run.()))
    Measure.timings(contenders ++ native("decode", name, native))
  end

  defp encoders(plain, jason?) do
    for {name, true, run} <- [
          {"jiffy", loaded?(:jiffy), fn -> apply(:jiffy, :encode, [plain]) end},
          {"Jason", jason?, fn -> apply(Jason, :encode!, [plain]) end},
          {"JSON", loaded?(JSON), fn -> apply(JSON, :encode!, [plain]) end}
        ],
        do: {name, run}
  end

  defp decoders(text, jason?) do
    for {name, true, run} <- [
          {"jiffy", loaded?(:jiffy), fn -> apply(:jiffy, :decode, [text, [:return_maps]]) end},
          {"Jason", jason?, fn -> apply(Jason, :decode!, [text]) end},
          {"JSON", loaded?(JSON), fn -> apply(JSON, :decode!, [text]) end}
        ],
        do: {name, run}
  end

  defp native(_what, _name, nil), do: []

  defp native(what, name, native),
    do: for(by <- ~w(sonic-rs Value), do: {by, Native.task(native, "#{what} #{by} #{name}")})

  defp loaded?(module), do: Code.ensure_loaded?(module)

  # Only equal answers can be compared.
  defp same!(what, name, answers) do
    match?([_one], Enum.uniq(answers)) || raise "#{what} #{name}: the implementations do not give the same answer"
  end

  defp print(title, results) do
    {_workload, times} = hd(results)
    names = for name <- ~w(jiffy Jason JSON sonic-rs Value), is_map_key(times, name), do: name
    rows = for {workload, times} <- results, do: row(workload, times, names)
    header = ["", "ours" | Enum.flat_map(names, &[&1, "ratio"])]
    Measure.table("#{title}, µs of processor time (and of the clock)", header, rows)
  end

  defp row(workload, times, names) do
    ours = times["ours"]
    others = Enum.flat_map(names, &[Measure.both(times[&1]), Measure.ratio(times[&1].cpu, ours.cpu)])
    [workload, Measure.both(ours) | others]
  end

  defp targets(what, results, wanted) do
    for {workload, times} <- results, {name, least} <- least(wanted, workload), time = times[name] do
      reached = time.cpu / times["ours"].cpu
      {"#{what} #{workload}: #{Float.round(reached, 1)}× #{name}, at least #{least}×", reached >= least}
    end
  end

  defp native_targets(encodes) do
    for {workload, times} <- encodes, most = @native[workload], native = times["sonic-rs"] do
      reached = times["ours"].cpu / native.cpu
      {"encode #{workload}: #{Float.round(reached, 2)}× the time of native sonic-rs, at most #{most}×", reached <= most}
    end
  end

  defp least(wanted, workload) do
    for {name, by_workload} <- wanted, least = by_workload[workload], do: {name, least}
  end
end
