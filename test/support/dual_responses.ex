defmodule McpServer.DualResponses do
  @moduledoc false
  # Servers of dual responses for tests, a clock that tests set, and a store whose callbacks can fail.

  import ExUnit.Callbacks

  alias McpServer.DualResponse
  alias McpServer.DualResponse.Store.ETS

  @base_url "https://api.example.com/resources"
  @columns [%{name: "n", type: "number"}, %{name: "text", type: "string"}]

  @doc "Starts a server for the test, and returns its name."
  def server(options \\ []) do
    name = :"results_#{System.unique_integer([:positive])}"
    start_supervised!({DualResponse, options ++ [name: name, base_url: @base_url]}, id: name)
    name
  end

  @doc "A clock, and the function that advances it."
  def clock do
    time = :atomics.new(1, signed: true)
    {fn -> :atomics.get(time, 1) end, fn milliseconds -> :atomics.add(time, 1, milliseconds) end}
  end

  @doc "Rows numbered from 0."
  defdelegate rows(count), to: McpServer.DualResponse.StoreCase

  @doc "The options of a response with this many rows."
  def numbers(count, options \\ []) do
    rows = rows(count)

    Keyword.merge(
      [
        name: "Numbers",
        columns: @columns,
        count: fn -> count end,
        execute: fn %{offset: offset, limit: limit} -> Enum.slice(rows, offset, limit) end
      ],
      options
    )
  end

  @doc "Creates a response with this many rows."
  def create!(server, count, options \\ []) do
    {:ok, response} = DualResponse.create_response(server, numbers(count, options))
    response
  end

  defmodule FailingStore do
    @moduledoc false
    # `Store.ETS` except for the callbacks that `fail/2` replaces.

    @behaviour McpServer.DualResponse.Store

    @doc "Replaces `callback` by `fun` in the store of this server."
    def fail(server, callback, fun), do: :persistent_term.put({__MODULE__, server, callback}, fun)

    def heal(server, callback), do: :persistent_term.erase({__MODULE__, server, callback})

    defp pass(ref, callback, arguments) do
      if test = ref[:test], do: send(test, {:store, callback})

      case :persistent_term.get({__MODULE__, ref.server, callback}, nil) do
        nil -> apply(ETS, callback, [Map.delete(ref, :test) | arguments])
        fun -> fun.()
      end
    end

    @impl true
    def init(options) do
      case :persistent_term.get({__MODULE__, options[:server], :init}, nil) do
        nil -> with {:ok, ref} <- ETS.init(options), do: {:ok, Map.put(ref, :test, options[:test])}
        fun -> fun.()
      end
    end

    @impl true
    def clock, do: :monotonic
    @impl true
    def persists_closures?, do: false
    @impl true
    def save(ref, resource, rows), do: pass(ref, :save, [resource, rows])
    @impl true
    def get(ref, key), do: pass(ref, :get, [key])
    @impl true
    def rows(ref, key, offset, limit), do: pass(ref, :rows, [key, offset, limit])
    @impl true
    def update(ref, key, changes, now), do: pass(ref, :update, [key, changes, now])
    @impl true
    def touch(ref, key, changes, now), do: pass(ref, :touch, [key, changes, now])
    @impl true
    def delete(ref, key), do: pass(ref, :delete, [key])
    @impl true
    def find_expired(ref, now, limit), do: pass(ref, :find_expired, [now, limit])
    @impl true
    def size(ref), do: pass(ref, :size, [])
    @impl true
    def least_used(ref, limit), do: pass(ref, :least_used, [limit])
    @impl true
    def close(ref), do: pass(ref, :close, [])
  end
end
