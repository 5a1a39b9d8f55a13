defmodule Bench.Results do
  @moduledoc """
  Answers with 10,000 rows of 5 fields in the shapes of results: from the handler's return value to the sent message,
  with the structured content also as text. jiffy does the same by encoding prepared maps twice. A presentation's
  text is indented, with its keys in declared order.
  """

  alias Bench.{Measure, Workloads}
  alias McpServer.{Catalog, Envelope, JSON, Presentation, Protocol, Request}

  @limits [max_bytes: 1_000_000_000, max_values: 10_000_000]
  @at_least 3

  defmodule Router do
    use McpServer.Router
    tool "rows", "Returns rows", Bench.Results, :rows
  end

  def rows(_conn, _args), do: {:ok, []}

  def run do
    [{"W4", %{"structuredContent" => %{"rows" => rows}}, _plain}] = for {"W4", _, _} = w4 <- Workloads.all(), do: w4
    results = for {name, ours, content, form} <- shapes(rows), do: {name, measure(name, ours, content, form)}
    rows = for {name, times} <- results, do: row(name, times)
    Measure.table("Answer with 10,000 rows, µs", ["", "ours", "jiffy", "ratio"], rows)
    for {name, %{"jiffy" => jiffy, "ours" => ours}} <- results, do: target(name, jiffy / ours)
  end

  # The handler's return value, and the structured content that a client receives.
  defp shapes(rows) do
    envelope = fn -> Envelope.success(%{"rows" => rows}, pagination: [has_more: false, total_count: 10_000]) end
    map = %{"rows" => rows}

    [
      {"map", fn -> {:ok, map} end, map, []},
      {"envelope", envelope, sent(envelope.()), []},
      {"presentation", presentation(map, hd(rows)), Map.put(map, "kind", "rows:v1"), [:pretty]}
    ]
  end

  defp presentation(map, row) do
    fields = for {name, _value} <- Enum.reverse(row), do: {name, []}
    rows = [type: "array", items: [type: "object", properties: fields]]
    kinds = [{"rows:v1", properties: [rows: rows]}]
    view = Presentation.new(kinds: kinds, max_output_bytes: :infinity)
    fn -> Presentation.present(view, "rows:v1", map, format: "json") end
  end

  defp sent(%Envelope{} = envelope) do
    meta = %{"pagination" => %{"has_more" => false, "total_count" => 10_000}, "request_id" => "1"}
    %{"success" => true, "data" => envelope.data, "error" => nil, "meta" => Map.put(meta, "version", "response-v2")}
  end

  defp measure(name, ours, content, form) do
    contenders = [{"ours", fn -> answer(ours.()) end} | jiffy(content, form)]
    same!(name, for({_, run} <- contenders, do: meaning(run.())))
    Measure.medians(contenders)
  end

  defp answer(returned) do
    request = %Request{id: 1, method: "tools/call", kind: :tool, index: 0, revision: "2025-11-25", name: "rows"}
    {:ok, result} = McpServer.Dispatch.Outcome.of(request, returned, %McpServer.Conn{request_id: request.id})
    {:ok, reply} = Protocol.result(Catalog.fetch(Router), request, result)
    reply
  end

  defp jiffy(content, form) do
    if Code.ensure_loaded?(:jiffy), do: [{"jiffy", fn -> jiffy_answer(content, form) end}], else: []
  end

  defp jiffy_answer(content, form) do
    text = IO.iodata_to_binary(apply(:jiffy, :encode, [content, [:use_nil | form]]))
    result = %{"content" => [%{"type" => "text", "text" => text}], "structuredContent" => content, "isError" => false}
    apply(:jiffy, :encode, [%{"jsonrpc" => "2.0", "id" => 1, "result" => result}, [:use_nil]])
  end

  # The decoded message and text, because the order of keys differs.
  defp meaning(reply) do
    message = JSON.decode!(IO.iodata_to_binary(reply), @limits)
    [%{"text" => text}] = message["result"]["content"]
    {put_in(message["result"]["content"], []), JSON.decode!(text, @limits)}
  end

  defp same!(name, answers) do
    match?([_one], Enum.uniq(answers)) || raise "#{name}: the implementations do not give the same answer"
  end

  defp row(name, %{"jiffy" => jiffy, "ours" => ours}),
    do: [name, Measure.us(ours), Measure.us(jiffy), Measure.ratio(jiffy, ours)]

  defp row(name, %{"ours" => ours}), do: [name, Measure.us(ours), "", ""]

  defp target(name, reached),
    do:
      {"answer of 10,000 rows, #{name}: #{Float.round(reached, 1)}× jiffy, at least #{@at_least}×",
       reached >= @at_least}
end
