defmodule Bench.Json do
  @moduledoc """
  Encoding and decoding, against jiffy, native sonic-rs and, where they are installed, Jason and Elixir's JSON.
  """

  alias Bench.{Measure, Workloads}
  alias McpServer.JSON, as: Ours

  @sonic Path.expand("yardsticks/sonic/build", __DIR__)

  # W6 is more than one message may hold.
  @limits [max_bytes: 1_000_000_000, max_values: 10_000_000]

  # At least so many times as fast, by yardstick and workload.
  @encode %{
    "jiffy" => %{"W2" => 3, "W4" => 3, "W6" => 3},
    "Jason" => %{"W2" => 10, "W3a" => 30, "W3b" => 16, "W4" => 10, "W6" => 13}
  }
  # At most so many times the time of sonic-rs writing native structs.
  @native %{"W2" => 2, "W3a" => 1.25, "W3b" => 1.25, "W4" => 2.2, "W6" => 2.2}
  @decode %{
    "jiffy" => %{"W2" => 4, "W4" => 4},
    "Jason" => %{"W1" => 2, "W2" => 3.5, "W4" => 5}
  }

  def run do
    encodes = for workload <- Workloads.all(), do: {elem(workload, 0), encode(workload)}
    decodes = for workload <- Workloads.all(), do: {elem(workload, 0), decode(workload)}
    print("Encode, µs", encodes)
    print("Decode to maps, µs", decodes)
    targets("encode", encodes, @encode) ++ native(encodes) ++ targets("decode", decodes, @decode)
  end

  defp encode({name, ours, plain}) do
    contenders = [{"ours", fn -> Ours.encode_to_iodata!(ours) end} | encoders(plain)]
    same!("encode", name, for({_, run} <- contenders, do: Ours.decode!(IO.iodata_to_binary(run.()), @limits)))
    Measure.medians(contenders)
  end

  defp decode({name, _ours, plain}) do
    bytes = IO.iodata_to_binary(Ours.encode_to_iodata!(plain))
    contenders = [{"ours", fn -> Ours.decode!(bytes, @limits) end} | decoders(bytes)]
    same!("decode", name, for({_, run} <- contenders, do: run.()))
    Measure.medians(contenders)
  end

  defp encoders(plain) do
    installed([
      {"jiffy", :jiffy, fn -> apply(:jiffy, :encode, [plain]) end},
      {"Jason", Jason, fn -> apply(Jason, :encode_to_iodata!, [plain]) end},
      {"JSON", JSON, fn -> apply(JSON, :encode_to_iodata!, [plain]) end}
    ])
  end

  defp decoders(bytes) do
    installed([
      {"jiffy", :jiffy, fn -> apply(:jiffy, :decode, [bytes, [:return_maps]]) end},
      {"Jason", Jason, fn -> apply(Jason, :decode!, [bytes]) end},
      {"JSON", JSON, fn -> apply(JSON, :decode!, [bytes]) end}
    ])
  end

  defp installed(contenders) do
    for {name, module, run} <- contenders, Code.ensure_loaded?(module), do: {name, run}
  end

  # Speed says nothing before the answers agree.
  defp same!(what, name, answers) do
    match?([_one], Enum.uniq(answers)) || raise "#{what} #{name}: the implementations do not give the same answer"
  end

  defp print(title, results) do
    names = results |> hd() |> elem(1) |> Map.keys() |> List.delete("ours")
    rows = for {workload, times} <- results, do: row(workload, times, names)
    Measure.table(title, ["", "ours" | Enum.flat_map(names, &[&1, "ratio"])], rows)
  end

  defp row(workload, times, names) do
    others = Enum.flat_map(names, &[Measure.us(times[&1]), Measure.ratio(times[&1], times["ours"])])
    [workload, Measure.us(times["ours"]) | others]
  end

  defp targets(what, results, wanted) do
    for {workload, times} <- results, {name, least} <- least(wanted, workload), time = times[name] do
      reached = time / times["ours"]
      {"#{what} #{workload}: #{Float.round(reached, 1)}× #{name}, at least #{least}×", reached >= least}
    end
  end

  # sonic-rs is measured in a program of its own, which reads the workloads into structs first.
  defp native(encodes) do
    case native_times(for {workload, _ours, plain} <- Workloads.all(), do: {workload, file!(workload, plain)}) do
      {:ok, native} ->
        rows = for {workload, times} <- encodes, do: native_row(workload, times["ours"], native[workload])
        Measure.table("Encode, and sonic-rs from native structs, µs", ["", "ours", "native", "ratio"], rows)
        for {workload, times} <- encodes, most = @native[workload], do: native_target(workload, times, native, most)

      {:error, reason} ->
        IO.puts("\nsonic-rs is not measured: #{reason}")
        []
    end
  end

  defp native_row(workload, ours, native) do
    [workload, Measure.us(ours), Measure.us(native), Measure.ratio(ours, native)]
  end

  defp native_target(workload, times, native, most) do
    reached = times["ours"] / native[workload]
    {"encode #{workload}: #{Float.round(reached, 2)}× native sonic-rs, at most #{most}×", reached <= most}
  end

  defp file!(workload, plain) do
    file = Path.join(System.tmp_dir!(), "mcp_server_bench_#{System.pid()}_#{workload}.json")
    File.write!(file, Ours.encode_to_iodata!(plain))
    file
  end

  defp native_times(files) do
    with {path, 0} <- System.cmd(@sonic, []),
         arguments = for({workload, file} <- files, do: "#{workload}=#{file}"),
         {lines, 0} <- System.cmd(String.trim(path), arguments) do
      {:ok, for(line <- String.split(lines, "\n", trim: true), into: %{}, do: native_time(line))}
    else
      {_output, _status} -> {:error, "its yardstick could not be built or run, see above"}
    end
  after
    for {_workload, file} <- files, do: File.rm(file)
  end

  defp native_time(line) do
    [workload, time] = String.split(line)
    {workload, String.to_float(time)}
  end

  defp least(wanted, workload) do
    for {name, by_workload} <- wanted, least = by_workload[workload], do: {name, least}
  end
end
