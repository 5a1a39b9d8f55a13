defmodule McpServer.DualResponse.OptionsTest do
  use ExUnit.Case, async: true

  import McpServer.DualResponses

  alias McpServer.DualResponse
  alias McpServer.DualResponse.Options
  alias McpServer.DualResponse.Store.ETS

  @base [base_url: "https://api.example.com/resources"]

  describe "base_url" do
    @describetag req: "S1-10"
    test "has to be given" do
      assert_raise ArgumentError,
                   "McpServer.DualResponse needs base_url: an http:// or https:// URL, or {endpoint, path}",
                   fn ->
                     DualResponse.start_link([])
                   end
    end

    test "is an http or https URL" do
      for url <- ["api.example.com", "/resources", "ftp://x/y", "https://", "https://x/y?z=1", "https://u:p@x/", 7] do
        assert_raise ArgumentError, ~r/expected :base_url to be an http/, fn -> Options.new!(base_url: url) end
      end
    end

    test "may end with a slash" do
      assert Options.new!(base_url: "http://localhost:4000/r/").base_url == "http://localhost:4000/r"
      name = server(base_url: "http://localhost:4000/r/")
      response = create!(name, 1)
      assert response.resource_url == "http://localhost:4000/r/" <> response.resource_id
    end
  end

  @tag req: ["S1-11", "S1-41"]
  test "the store is Store.ETS, unless another is given" do
    assert %{store: ETS, store_options: []} = Options.new!(@base)
    assert %{store: Other, store_options: []} = Options.new!([store: Other] ++ @base)
    assert %{store: Other, store_options: [x: 1]} = Options.new!([store: {Other, x: 1}] ++ @base)
  end

  @tag req: ["S1-12", "S1-13", "S1-14"]
  test "the defaults" do
    assert %{default_expiration: 900_000, default_sample_size: 15, cleanup_interval: 60_000, name: DualResponse} =
             Options.new!(@base)
  end

  test "what is not an option is refused by name" do
    assert_raise ArgumentError,
                 ~r/McpServer.DualResponse has no option :base_uri, did you mean base_url\? Its options are: /,
                 fn ->
                   DualResponse.start_link(base_uri: "https://x")
                 end
  end

  for {option, value} <- [
        default_expiration: 0,
        default_expiration: "900",
        default_sample_size: -1,
        cleanup_interval: 0,
        max_resources: 0,
        max_bytes: 1.5,
        max_rows: -1,
        max_limit: 0,
        persist: :both,
        extend_on_access: true,
        tombstones: 0,
        query_timeout: nil,
        tie_break: :id,
        bind: {Some, :thing},
        store: "ets",
        name: nil,
        clock: 7
      ] do
    test "#{option}: #{inspect(value)} is refused" do
      option = unquote(option)

      assert_raise ArgumentError, ~r/expected #{inspect(option)} to be /, fn ->
        Options.new!([{option, unquote(value)}] ++ @base)
      end
    end
  end

  describe "URIs" do
    @describetag req: "Q3"
    @tag req: "S1-30"
    test "resource:// and the id, unless there is a scheme" do
      response = create!(server(), 1)
      assert response.resource_uri == "resource://" <> response.resource_id
      response = create!(server(uri_scheme: "x-rows.v1+z"), 1)
      assert response.resource_uri == "x-rows.v1+z://" <> response.resource_id
    end

    test "or a builder" do
      response = create!(server(uri_builder: &"rows://acme/#{&1}"), 1)
      assert response.resource_uri == "rows://acme/" <> response.resource_id
    end

    for scheme <- ["", "1x", "a b", "a_b", "größe", "a:", <<255>>, nil, :resource] do
      test "#{inspect(scheme)} is no scheme" do
        assert_raise ArgumentError, ~r/expected :uri_scheme to be a URI scheme/, fn ->
          Options.new!([uri_scheme: unquote(scheme)] ++ @base)
        end
      end
    end

    for scheme <- ~w(file data javascript ui File JAVASCRIPT) do
      test "#{scheme} belongs to others, from a builder as well" do
        message = ~r/ is #{unquote(scheme)}, which means something else to hosts/
        assert_raise ArgumentError, message, fn -> Options.new!([uri_scheme: unquote(scheme)] ++ @base) end
        builder = fn id -> unquote(scheme) <> "://" <> id end
        assert_raise ArgumentError, message, fn -> Options.new!([uri_builder: builder] ++ @base) end
      end
    end

    test "a builder makes URIs" do
      for builder <- [fn _ -> nil end, fn id -> id end, fn id -> "x://a b/#{id}" end] do
        assert_raise ArgumentError, ~r/expected :uri_builder to make a URI/, fn ->
          Options.new!([uri_builder: builder] ++ @base)
        end
      end
    end
  end

  @tag req: "S1-30"
  test "ids have 128 random bits and need no encoding" do
    name = server()
    ids = for _ <- 1..100, uniq: true, do: create!(name, 0).resource_id
    assert length(ids) == 100
    for id <- ids, do: assert(id =~ ~r/\A[0-9a-f]{32}\z/)
  end

  test "a server's specification is that of a supervisor's child that is not started again once it was shut down" do
    assert %{id: MyResults, restart: :transient} = Supervisor.child_spec({DualResponse, name: MyResults}, [])
  end
end
