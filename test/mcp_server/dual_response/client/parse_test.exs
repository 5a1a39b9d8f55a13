defmodule McpServer.DualResponse.Client.ParseTest do
  use ExUnit.Case, async: true

  import McpServer.Fixtures

  alias McpServer.DualResponse.{Client, Error, Response}
  alias McpServer.DualResponse.Client.{FetchResult, Parsed}
  alias McpServer.JSON
  alias McpServer.Tool.CallResult

  doctest McpServer.DualResponse.Client
  doctest McpServer.DualResponse.Client.Parsed

  @client Client.new()

  defp structured(changes \\ %{}) do
    Map.merge(
      %{
        "results" => [%{"id" => 1, "name" => "MIT", "state" => "MA"}],
        "resource" => %{
          "uri" => "resource://abc123",
          "url" => "https://api.example.com/resources/abc123",
          "name" => "Institution Search Results",
          "mimeType" => "application/json"
        },
        "metadata" => %{
          "total_count" => 847,
          "columns" => [%{"name" => "id", "type" => "number"}],
          "executed_at" => "2025-01-15T10:30:00Z",
          "expires_at" => "2025-01-15T10:45:00Z"
        }
      },
      changes
    )
  end

  defp with_resource(resource), do: structured(%{"resource" => resource})
  defp with_metadata(changes), do: structured(%{"metadata" => Map.merge(structured()["metadata"], changes)})
  defp url(client, resource), do: Client.parse_structured(client, with_resource(resource)).resource_url

  describe "options" do
    @describetag req: "S1-60"
    @tag req: "S1-60"
    test "defaults" do
      assert %Client{
               base_url: nil,
               headers: [],
               timeout: 30_000,
               allowed_origins: [],
               allow_insecure: false,
               max_redirects: 3,
               max_body_bytes: 16_777_216,
               max_download_bytes: 268_435_456,
               max_rows: 1_000_000,
               batch_size: 500,
               fetch: nil
             } = @client
    end

    @tag req: "S1-60"
    test "base_url is used instead of the URL in the result, with or without a slash at its end" do
      for base <- ["https://proxy.example.com/r", "https://proxy.example.com/r/"] do
        client = Client.new(base_url: base)
        assert Client.parse_structured(client, structured()).resource_url == "https://proxy.example.com/r/abc123"
      end
    end

    @tag req: "S1-60"
    test "a mistake in an option is an ArgumentError that names it" do
      for {options, message} <- [
            {[base_uri: "https://a.example"], ~r/base_uri/},
            {[base_url: "a.example"], ~r/:base_url/},
            {[base_url: "ftp://a.example"], ~r/:base_url/},
            {[base_url: "https://user:pw@a.example"], ~r/:base_url/},
            {[base_url: "https://a.example/?x=1"], ~r/:base_url/},
            {[base_url: 1], ~r/:base_url/},
            {[timeout: 0], ~r/:timeout/},
            {[timeout: :infinity], ~r/:timeout/},
            {[max_rows: -1], ~r/:max_rows/},
            {[max_redirects: -1], ~r/:max_redirects/},
            {[fetch: fn -> :ok end], ~r/:fetch/},
            {[headers: "a: b"], ~r/headers/},
            {[headers: %{"a b" => "c"}], ~r/"a b"/},
            {[headers: %{"a" => "c\r\nd: e"}], ~r/value of the header a/},
            {[headers: %{"host" => "x"}], ~r/the header host/},
            {[headers: [{"content-length", "1"}]], ~r/the header content-length/},
            {[allowed_origins: ["https://a.example/path"]], ~r/an origin/},
            {[allowed_origins: ["*"]], ~r/an origin/},
            {[allowed_origins: "https://a.example"], ~r/:allowed_origins/},
            {[tls: [verify: :verify_none]], ~r/:cacertfile/}
          ] do
        assert_raise ArgumentError, message, fn -> Client.new(options) end
      end
    end

    @tag req: "S1-60"
    test "neither a client nor what it parsed shows its headers when inspected" do
      client = Client.new(base_url: "https://a.example", headers: %{"authorization" => "Bearer hush"})
      shown = inspect([client, Client.parse_structured(client, structured())])
      assert shown =~ "https://a.example"
      refute shown =~ "hush"
    end
  end

  describe "what is a dual response" do
    @describetag req: ["S1-61", "S1-62"]
    @tag req: "S1-61"
    test "a tool's result as decoded JSON" do
      assert %Parsed{total_count: 847} = Client.parse(@client, %{"content" => [], "structuredContent" => structured()})
    end

    @tag req: "S1-61"
    test "the document's own result, with all of its fields" do
      with_fixture("derived-s1-tool-result-847.json", fn result ->
        assert %Parsed{} = parsed = Client.parse(@client, result)
        assert parsed.sample == [%{"id" => 1, "name" => "MIT", "state" => "MA"}]
        assert Enum.map(parsed.columns, & &1["name"]) == ["id", "name", "state"]
        assert parsed.resource_url == "https://api.example.com/resources/abc123"
      end)
    end

    @tag req: "S1-61"
    test "a handler's own values: CallResult and Response" do
      assert %Parsed{total_count: 847} =
               Client.parse(@client, %CallResult{content: [], structured_content: structured()})

      response = %Response{
        resource_id: "abc123",
        resource_uri: "resource://abc123",
        resource_url: "https://api.example.com/resources/abc123",
        name: "Institutions",
        sample: [%{"id" => 1}],
        total_count: 2,
        columns: [%{"name" => "id", "type" => "number"}],
        created_at: ~U[2025-01-15 10:30:00Z]
      }

      assert %Parsed{total_count: 2, name: "Institutions", expires_at: nil} = Client.parse(@client, response)
    end

    @tag req: "S1-61"
    test "errors, plain results and junk are nil, and never raise" do
      for junk <- [
            %{"content" => [%{"type" => "text", "text" => "plain"}]},
            %{"content" => [], "isError" => true, "structuredContent" => structured()},
            %CallResult{content: [], is_error: true, structured_content: structured()},
            %CallResult{content: []},
            %{"structuredContent" => nil},
            %{"structuredContent" => [structured()]},
            nil,
            1,
            1.5,
            "text",
            <<255>>,
            :atom,
            [],
            [1 | 2],
            {:ok, 1},
            self(),
            make_ref(),
            fn -> :ok end,
            Date.utc_today(),
            %{}
          ] do
        assert Client.parse(@client, junk) == nil, inspect(junk)
        assert Client.parse_structured(@client, junk) == nil, inspect(junk)
      end
    end

    @tag req: "S1-62"
    test "structured content of another shape is nil" do
      for changes <- [
            %{"results" => nil},
            %{"results" => [1]},
            %{"results" => [%{} | %{}]},
            %{"resource" => nil},
            %{"resource" => "resource://abc123"},
            %{"resource" => %{}},
            %{"resource" => %{"uri" => 1}},
            %{"resource" => %{"uri" => ""}},
            %{"resource" => %{"uri" => "no uri"}},
            %{"resource" => %{"uri" => <<255, 58>>}},
            %{"resource" => %{"uri" => "resource://a", "url" => 1}},
            %{"resource" => %{"uri" => "resource://a", "name" => 1}},
            %{"metadata" => nil},
            %{"metadata" => []},
            %{"metadata" => %{"total_count" => 1}},
            %{"metadata" => %{"columns" => []}}
          ] do
        assert Client.parse_structured(@client, structured(changes)) == nil, inspect(changes)
      end

      for changes <- [
            %{"total_count" => -1},
            %{"total_count" => 1.0},
            %{"total_count" => "1"},
            %{"columns" => %{}},
            %{"columns" => ["id"]},
            %{"expires_at" => "tomorrow"},
            %{"expires_at" => 0},
            %{"executed_at" => %{}}
          ] do
        assert Client.parse_structured(@client, with_metadata(changes)) == nil, inspect(changes)
      end

      assert %Parsed{total_count: 0} = Client.parse_structured(@client, with_metadata(%{"total_count" => 0}))
    end

    @tag req: "S1-62"
    test "a URI may have 8 KiB and no more" do
      for {length, parsed?} <- [{8 * 1024, true}, {8 * 1024 + 1, false}] do
        uri = String.pad_trailing("resource://", length, "a")
        assert is_struct(Client.parse_structured(@client, with_resource(%{"uri" => uri}))) == parsed?
      end
    end

    @tag req: ["S1-62", "Q3"]
    test "schemes that belong to others are no resources" do
      for scheme <- ["file", "data", "javascript", "ui", "FILE"] do
        assert Client.parse_structured(@client, with_resource(%{"uri" => scheme <> "://a"})) == nil
      end
    end
  end

  describe "fields" do
    @describetag req: ["S1-63", "S1-64"]
    @tag req: "S1-63"
    test "sample, total, URI, URL, columns, and times as DateTime" do
      assert %Parsed{
               sample: [%{"id" => 1, "name" => "MIT", "state" => "MA"}],
               total_count: 847,
               name: "Institution Search Results",
               resource_uri: "resource://abc123",
               resource_url: "https://api.example.com/resources/abc123",
               columns: [%{"name" => "id", "type" => "number"}],
               expires_at: ~U[2025-01-15 10:45:00Z],
               executed_at: ~U[2025-01-15 10:30:00Z]
             } = Client.parse_structured(@client, structured())
    end

    @tag req: "S1-63"
    test "milliseconds and offsets are understood, too" do
      metadata = %{"expires_at" => "2025-01-15T12:45:00.250+02:00"}

      assert %Parsed{expires_at: ~U[2025-01-15 10:45:00.250Z]} =
               Client.parse_structured(@client, with_metadata(metadata))
    end

    @tag req: "RES-18"
    test "expires_at that is absent is read as null" do
      for metadata <- [
            Map.delete(structured()["metadata"], "expires_at"),
            Map.put(structured()["metadata"], "expires_at", nil)
          ] do
        assert %Parsed{expires_at: nil} = Client.parse_structured(@client, structured(%{"metadata" => metadata}))
      end
    end

    @tag req: "S1-64"
    test "expired from expires_at on, and never without one" do
      parsed = Client.parse_structured(@client, structured())
      now = DateTime.utc_now()
      assert Parsed.expired?(%{parsed | expires_at: now})
      assert Parsed.expired?(%{parsed | expires_at: DateTime.add(now, -1, :second)})
      refute Parsed.expired?(%{parsed | expires_at: DateTime.add(now, 3600, :second)})
      refute Parsed.expired?(%{parsed | expires_at: nil})
    end
  end

  describe "from the URI to the URL" do
    @describetag req: ["S1-70", "Q3"]
    @tag req: ["S1-70", "RES-15"]
    test "resource.url comes first, also with a query of its own" do
      signed = "https://api.example.com/resources/abc123?exp=1&sig=x"
      assert url(@client, %{"uri" => "resource://other", "url" => signed}) == signed
    end

    @tag req: ["S1-70", "Q3", "RES-15"]
    test "without resource.url the URI's last segment, or its host, goes below base_url" do
      client = Client.new(base_url: "https://api.example.com/resources")

      for {uri, id} <- [
            {"resource://abc123", "abc123"},
            {"resource://query/abc123", "abc123"},
            {"resource://query/abc123/", "abc123"},
            {"resource://query/a/b/abc123?x=1#y", "abc123"},
            {"resource://AbC123", "AbC123"},
            {"report+v1.0:abc123", "abc123"},
            {"https://elsewhere.example/resources/abc123", "abc123"},
            {"resource://a%20b", "a%20b"},
            {"resource://q/a%2Fb", "a%2Fb"}
          ] do
        assert url(client, %{"uri" => uri}) == "https://api.example.com/resources/" <> id, uri
      end
    end

    @tag req: ["S1-70", "Q3"]
    test "an id cannot lead out of base_url" do
      client = Client.new(base_url: "https://api.example.com/resources")

      for uri <- ["resource://q/..", "resource://q/%2e%2e", "resource://q/.", "resource://", "resource://q/%FF"] do
        assert url(client, %{"uri" => uri}) == nil, uri
      end

      assert url(client, %{"uri" => "resource://q/..%2F..%2Fadmin"}) ==
               "https://api.example.com/resources/..%2F..%2Fadmin"
    end

    @tag req: ["S1-70", "Q3"]
    test "a URI that is a URL is one; any other needs base_url, and fetching says so" do
      assert url(@client, %{"uri" => "https://api.example.com/r/abc123"}) == "https://api.example.com/r/abc123"

      parsed = Client.parse_structured(@client, with_resource(%{"uri" => "resource://abc123"}))
      assert parsed.resource_url == nil
      assert {:error, %Error{code: :fetch_error, message: message}} = Parsed.fetch(parsed)
      assert message =~ "base_url"
    end
  end

  @tag req: "S1-65"
  test "a FetchResult has the document's fields" do
    with_fixture("s1-10-fetch-result.json", fn printed ->
      fields = FetchResult.__struct__() |> Map.from_struct() |> Map.keys() |> Enum.map(&to_string/1)
      assert Enum.sort(fields) == printed |> Map.keys() |> Enum.map(&Macro.underscore/1) |> Enum.sort()
    end)
  end

  # RES-15: structured content is accepted with and without the URL.
  @tag req: "RES-15"
  test "the document's structured content, which has no URL" do
    with_fixture("s1-02-structured-content.json", fn content ->
      client = Client.new(base_url: "https://api.example.com/resources")
      assert Client.parse_structured(client, content).resource_url == "https://api.example.com/resources/abc123"
      assert Client.parse_structured(@client, content).resource_url == nil
    end)
  end

  defp with_fixture(name, check) do
    with {:ok, text} <- read(name), do: check.(JSON.decode!(text))
  end
end
