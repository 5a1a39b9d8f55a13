defmodule McpServer.DualResponse.StoreCase do
  @moduledoc ~S'''
  The tests that every `McpServer.DualResponse.Store` must pass.

      defmodule MyApp.RedisStoreTest do
        use McpServer.DualResponse.StoreCase, store: {MyApp.RedisStore, url: "redis://localhost"}
      end

  | option | default | meaning |
  |---|---|---|
  | `:store` | required | a module or `{module, options}`; evaluated in each test's setup, so it may call a function of the test module |
  | `:async` | `false` | whether the tests may run concurrently with others |
  | `:parallel` | `20` | processes in the tests of concurrency |

  Each test opens the store under a unique server name and closes it afterwards. Data of other tests or servers in the
  same store does not affect the tests.

  Only this module needs ExUnit.
  '''

  alias McpServer.DualResponse.Resource
  alias McpServer.DualResponse.StoreCase.{Contents, Races, Records, Times}

  @doc false
  defmacro __using__(options) do
    {store, options} = Keyword.pop!(options, :store)
    {parallel, options} = Keyword.pop(options, :parallel, 20)

    quote do
      use ExUnit.Case, async: unquote(Keyword.get(options, :async, false))

      alias McpServer.DualResponse.{Resource, StoreCase}

      @parallel unquote(parallel)

      setup do
        {store, options} =
          case unquote(store) do
            {module, options} -> {module, options}
            module -> {module, []}
          end

        options = Keyword.put(options, :server, :"store_case_#{System.unique_integer([:positive])}")
        assert {:ok, ref} = store.init(options)
        on_exit(fn -> store.close(ref) end)
        {:ok, store: store, ref: ref, options: options, now: StoreCase.now(store)}
      end

      unquote(Records.records())
      unquote(Records.changes())
      unquote(Times.accesses())
      unquote(Times.expiry())
      unquote(Contents.kept_rows())
      unquote(Contents.bounds())
      unquote(Races.together())
    end
  end

  @doc "A resource for a test; `fields` replace its defaults."
  @spec resource(keyword) :: Resource.t()
  def resource(fields \\ []) do
    struct!(
      %Resource{
        id: Base.encode16(:crypto.strong_rand_bytes(16), case: :lower),
        name: "Institutions",
        query: %{execute: {Enum, :slice, [[%{"id" => 1}]]}, count: {Kernel, :length, [[]]}},
        columns: [%{:name => "id", "type" => "number", "unit" => nil}, %{name: "näme", type: "string"}],
        total_count: 847,
        sample_data: [%{"id" => 1, "näme" => "MIT", "big" => 123_456_789_012_345_678_901, "share" => 0.1, "x" => nil}],
        created_at: ~U[2025-01-15 10:30:00Z],
        metadata: %{:since => ~D[2025-01-01], "params" => %{"state" => ["NJ", nil, true]}}
      },
      fields
    )
  end

  @doc "A resource that expires at `deadline`."
  @spec expiring(integer, keyword) :: Resource.t()
  def expiring(deadline, fields \\ []),
    do: resource([deadline: deadline, expires_at: ~U[2025-01-15 10:45:00Z]] ++ fields)

  @doc "The current time of a store's clock."
  @spec now(module) :: integer
  def now(store) do
    case store.clock() do
      :monotonic -> System.monotonic_time(:millisecond)
      :wall -> System.system_time(:millisecond)
    end
  end

  @doc "Rows numbered from 0."
  @spec rows(non_neg_integer) :: [map]
  def rows(count), do: for(n <- 0..(count - 1)//1, do: %{"n" => n, "text" => "row #{n}"})

  @doc "Runs `fun` concurrently in several processes and returns the results."
  @spec at_once(pos_integer, (pos_integer -> result)) :: [result] when result: term
  def at_once(count, fun) do
    1..count |> Enum.map(fn n -> Task.async(fn -> fun.(n) end) end) |> Task.await_many(60_000)
  end
end
