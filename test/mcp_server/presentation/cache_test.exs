defmodule McpServer.Presentation.CacheTest do
  use ExUnit.Case, async: true
  doctest McpServer.Presentation.Cache

  import McpServer.HttpCase, only: [eventually: 1]

  alias McpServer.Conn
  alias McpServer.Presentation.{Cache, NeedsInput}
  alias McpServer.Tool.{CallResult, Content}

  @long 60_000

  setup context do
    name = :"#{context.module}.#{context.line}"
    start_supervised!({Cache, [name: name] ++ Map.get(context, :cache, [])})
    %{cache: name}
  end

  # The text of the result: the arguments of the executed call.
  defp fetch(cache, arguments, options \\ []) do
    parent = self()

    {:ok, result} =
      Cache.fetch(cache, Keyword.get(options, :tool, "search"), arguments, Keyword.get(options, :ttl, @long), fn ->
        send(parent, {:called, arguments})
        {:ok, %CallResult{content: [Content.text(inspect(arguments))]}}
      end)

    hd(result.content).text
  end

  defp called?(arguments) do
    receive do
      {:called, ^arguments} -> true
    after
      0 -> false
    end
  end

  @tag req: "S0-78"
  test "a result is made once for each call and format", %{cache: cache} do
    for format <- [nil, "json", "both"] do
      arguments = %{"q" => "a", "format" => format}
      assert fetch(cache, arguments) == inspect(arguments)
      assert called?(arguments)
      assert fetch(cache, arguments) == inspect(arguments)
      refute called?(arguments)
    end

    # The omitted default and the explicit default are one format.
    assert fetch(cache, %{"q" => "a", "format" => "markdown"}) == inspect(%{"q" => "a", "format" => nil})
    fetch(cache, %{"q" => "b"})
    assert called?(%{"q" => "b"})
    fetch(cache, %{"q" => "b"}, tool: {"search", 7})
    assert called?(%{"q" => "b"})
  end

  # Earlier, the moduledoc left the answers out, and they were those of everybody with the same arguments.
  test "what a user has filled in is an argument", %{cache: cache} do
    search = fn conn ->
      arguments = NeedsInput.answers(conn, %{})
      fetch(cache, arguments)
    end

    ada = %Conn{state: {NeedsInput, %{"q" => "Ada's"}, ["q"]}}
    assert search.(ada) == inspect(%{"q" => "Ada's"})
    assert search.(%Conn{}) == inspect(%{})
  end

  test "for a time", %{cache: cache} do
    fetch(cache, %{"q" => "a"}, ttl: 1)
    Process.sleep(5)
    assert called?(%{"q" => "a"})
    fetch(cache, %{"q" => "a"})
    assert called?(%{"q" => "a"})
  end

  test "failures, questions and what is no result are not kept", %{cache: cache} do
    question = %CallResult{content: [], structured_content: %{"kind" => "needsInput:v1"}}

    for answer <- [
          {:ok, %CallResult{content: [], is_error: true}},
          {:ok, question},
          {:error, "x"},
          {:input_required, %{}, nil}
        ] do
      assert Cache.fetch(cache, "t", %{}, @long, fn -> answer end) == answer
      assert Cache.fetch(cache, "t", %{}, @long, fn -> :again end) == :again
    end
  end

  @tag cache: [max_entries: 3]
  test "of more than there is room for, those go that expire first", %{cache: cache} do
    for {q, ttl} <- [{"a", 3 * @long}, {"b", @long}, {"c", 2 * @long}, {"d", 4 * @long}],
        do: fetch(cache, %{"q" => q}, ttl: ttl)

    assert :ets.info(cache, :size) == 3
    for q <- ["a", "b", "c", "d"], do: assert(called?(%{"q" => q}))
    for q <- ["a", "c", "d"], do: fetch(cache, %{"q" => q})
    refute called?(%{"q" => "a"}) or called?(%{"q" => "c"}) or called?(%{"q" => "d"})
    for n <- 1..100, do: fetch(cache, %{"q" => n})
    assert :ets.info(cache, :size) == 3
  end

  @tag cache: [max_entry_bytes: 1_000]
  test "what is large is not kept", %{cache: cache} do
    fetch(cache, %{"q" => String.duplicate("x", 500)})
    assert :ets.info(cache, :size) == 1
    fetch(cache, %{"q" => String.duplicate("x", 1_001)})
    assert :ets.info(cache, :size) == 1
  end

  # Earlier, each of them was copied into the process of the cache before its size was looked at.
  @tag cache: [max_entry_bytes: 1_000]
  test "what is large does not reach the process of the cache", %{cache: cache} do
    process = Process.whereis(cache)
    :ok = :sys.suspend(process)
    fetch(cache, %{"q" => String.duplicate("x", 1_001)})
    assert Process.info(process, :messages) == {:messages, []}

    small = Task.async(fn -> fetch(cache, %{"q" => "a"}) end)

    eventually(fn -> match?({:messages, [{:"$gen_call", _from, {:put, _, _, _}}]}, Process.info(process, :messages)) end)

    :ok = :sys.resume(process)
    assert Task.await(small) == fetch(cache, %{"q" => "a"})
    assert :ets.info(cache, :size) == 1
  end

  # Earlier, the process kept its copies until it got many more results.
  test "the process of the cache keeps no copy of a result", %{cache: cache} do
    for n <- 1..10 do
      result = %CallResult{content: [], structured_content: %{"rows" => Enum.to_list(1..50_000)}}
      assert Cache.fetch(cache, "t", %{"n" => n}, @long, fn -> {:ok, result} end) == {:ok, result}
    end

    assert :ets.info(cache, :size) == 10
    process = Process.whereis(cache)
    eventually(fn -> Process.info(process, :total_heap_size) < {:total_heap_size, 5_000} end)
  end

  test "without a cache, and for what cannot be a key, the work is done each time", %{cache: cache} do
    for _ <- 1..2, do: assert(fetch(:no_such_cache, %{"q" => "a"}) && called?(%{"q" => "a"}))

    for arguments <- [%{"format" => "html"}, %{"x" => self()}],
        _ <- 1..2,
        do: assert(fetch(cache, arguments) && called?(arguments))

    assert_raise ArgumentError, ~r/max_entries/, fn -> Cache.start_link(name: :x, max_entries: 0) end
  end
end
