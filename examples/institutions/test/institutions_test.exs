defmodule InstitutionsTest do
  # A host in two halves, as it is in life: the official Python client speaks MCP, and what the tool's result links to
  # is fetched by `McpServer.DualResponse.Client`; both over HTTP.
  use ExUnit.Case

  alias Institutions.Generator
  alias McpServer.DualResponse.{Client, Error}
  alias McpServer.DualResponse.Client.Parsed
  alias McpServer.JSON

  @python Path.expand("../../../conformance/.venv/bin/python", __DIR__)
  @host Path.expand("host.py", __DIR__)
  @quarter_of_an_hour 15 * 60 * 1_000

  defp url(path), do: "http://127.0.0.1:#{Application.fetch_env!(:institutions, :port)}#{path}"

  # What the official client got, as JSON.
  defp host(arguments) do
    {output, status} = System.cmd(@python, [@host, url("/mcp") | arguments])
    assert status == 0
    JSON.decode!(output)
  end

  defp search(arguments \\ %{}), do: host(["call", "search_institutions", JSON.encode!(arguments)])

  # The host trusts this server, because it was told of it; not because a result says so.
  defp client(options \\ []), do: Client.new([allowed_origins: [url("")]] ++ options)
  defp parsed(result), do: Client.parse(client(), result)
  # Asserted only once compared: the difference of two long lists takes minutes to draw.
  defp whole?(outcome, rows), do: outcome == {:ok, rows}
  defp wait(milliseconds), do: :counters.add(:persistent_term.get(Institutions.Clock), 1, milliseconds)

  test "the data are the same each time" do
    rows = Generator.rows()
    assert length(rows) == 7_000
    assert rows |> Enum.map(& &1["id"]) |> Enum.uniq() |> length() == 7_000
    digest = :crypto.hash(:sha256, JSON.encode!(rows)) |> Base.encode16(case: :lower)
    assert digest == "5b5ca1ffb6cfaca8447d6176c1b4179b962e2d4c797c5a708772f1566720810f"
  end

  test "the model sees fifteen rows of seven thousand, the host fetches all of them" do
    result = search()
    rows = Generator.rows()

    # What the model reads.
    assert [%{"type" => "text", "text" => text}, %{"type" => "resource_link", "uri" => uri} = link] = result["content"]
    assert [sentence | lines] = String.split(text, "\n")
    assert sentence == "Found 7000 results. Sample data and full dataset link included."
    assert Enum.map(lines, &JSON.decode!/1) == Enum.take(rows, 15)
    assert %{"name" => "Institutions", "mimeType" => "application/json"} = link
    assert result["structuredContent"]["results"] == Enum.take(rows, 15)

    # What the host does.
    parsed = parsed(result)
    assert %Parsed{total_count: 7_000, resource_uri: ^uri} = parsed
    assert Enum.map(parsed.columns, & &1["name"]) == ~w(id name city state control founded enrollment)
    refute Parsed.expired?(parsed)
    me = self()
    fetched = Parsed.fetch_all(parsed, on_progress: fn fetched, total -> send(me, {fetched, total}) end)
    assert whole?(fetched, rows)
    for fetched <- 500..7_000//500, do: assert_received({^fetched, 7_000})

    # In one response, too, and a part of it.
    assert whole?(Parsed.fetch_all(parsed, mode: :ndjson), rows)
    assert [batch] = parsed |> Parsed.fetch_stream(mode: :ndjson, batch_size: 100) |> Enum.take(1)
    assert batch == Enum.take(rows, 100)
    assert {:ok, page} = Parsed.fetch(parsed, offset: 6_950, limit: 100)
    assert {page.returned_count, page.has_next, page.has_previous} == {50, false, true}
    assert page.data == Enum.drop(rows, 6_950)

    assert {:ok, metadata} = Parsed.metadata(parsed)
    # Fourteen pages, two streams and a page.
    assert {metadata.status, metadata.total_count, metadata.access_count} == {"ready", 7_000, 17}
  end

  test "a search with arguments, sorted by the server" do
    wanted = &(&1["state"] == "CA" and &1["control"] == "public" and &1["enrollment"] >= 1_000)
    rows = Enum.filter(Generator.rows(), wanted)
    parsed = parsed(search(%{state: "CA", control: "public", min_enrollment: 1_000}))
    assert parsed.total_count == length(rows)
    assert whole?(Parsed.fetch_all(parsed), rows)

    sorted = Parsed.fetch_all(parsed, batch_size: 50, sort: %{field: "enrollment", order: :desc})
    assert whole?(sorted, Enum.sort_by(rows, & &1["enrollment"], :desc))

    keys = [%{field: "name"}, %{field: "founded", order: :desc}]
    sorted = Parsed.fetch_all(parsed, mode: :ndjson, sort: keys)
    assert whole?(sorted, Enum.sort_by(rows, &{&1["name"], -&1["founded"]}))

    assert {:error, %Error{code: :fetch_error, status: 400, cause: %{"error" => "invalid_sort"}}} =
             Parsed.fetch(parsed, sort: %{field: "secret"})
  end

  test "nothing found is a result, too" do
    result = search(%{state: "CA", control: "private", min_enrollment: 1_000_000})
    assert result["structuredContent"]["results"] == []
    assert {:ok, []} = Parsed.fetch_all(parsed(result))
  end

  test "an argument that is none is refused before anything is searched" do
    result = search(%{control: "royal"})
    assert result["isError"]
    assert parsed(result) == nil
  end

  test "the link can be read with MCP alone" do
    assert %{"resourceTemplates" => [%{"uriTemplate" => "resource://{id}"}]} = host(["templates"])
    result = search(%{state: "WY"})
    parsed = parsed(result)

    assert %{"contents" => [%{"uri" => uri, "mimeType" => "application/json", "text" => text}]} =
             host(["read", parsed.resource_uri])

    assert uri == parsed.resource_uri
    wyoming = Enum.filter(Generator.rows(), &(&1["state"] == "WY"))
    assert %{"data" => ^wyoming, "total_count" => total} = JSON.decode!(text)
    assert total == length(wyoming)
  end

  test "what is pinned stays, what is not expires" do
    [kept, left] = for _search <- 1..2, do: parsed(search(%{state: "DE"}))
    assert Parsed.pin(kept) == {:ok, true}
    wait(@quarter_of_an_hour + 1_000)

    assert {:ok, %{expires_at: nil}} = Parsed.metadata(kept)
    assert {:ok, rows} = Parsed.fetch_all(kept)
    assert length(rows) == kept.total_count

    assert {:error, %Error{code: :resource_not_found, status: 404}} = Parsed.fetch(left)
    # As it is once the host's own clock says so.
    late = %{left | expires_at: DateTime.utc_now()}
    assert {:error, %Error{code: :resource_expired, status: 404}} = Parsed.fetch(late)
    assert Parsed.pin(left) == {:ok, false}
    assert %{"error" => %{"message" => _message}} = host(["read", left.resource_uri])

    assert Parsed.delete(kept) == {:ok, true}
    assert Parsed.delete(kept) == {:ok, false}
  end

  test "a host that was not told of the server fetches nothing from its own network" do
    parsed = Client.parse(Client.new(), search(%{state: "DE"}))
    assert {:error, %Error{code: :fetch_error, message: message}} = Parsed.fetch(parsed)
    assert message =~ "private address"
  end
end
