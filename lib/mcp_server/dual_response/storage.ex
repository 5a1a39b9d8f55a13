defmodule McpServer.DualResponse.Storage do
  @moduledoc false
  # All calls of a store's callbacks. Every failure of a store becomes one error and a log line.

  alias McpServer.DualResponse.{Errand, Error, Options, Resource, Store, Trouble}

  @unavailable "The store is not available"

  @doc "The options of a running server."
  @spec server(Options.key()) :: {:ok, Options.t()} | {:error, Error.t()}
  def server(key) do
    case Options.fetch(key) do
      nil -> {:error, Error.new(:storage_error, @unavailable, cause: :not_running)}
      options -> {:ok, options}
    end
  end

  @doc "Saves a resource, and its rows if it has any. Room is made in the same `Errand`."
  @spec save(Options.t(), Resource.t(), [map] | nil) :: :ok | {:error, Error.t()}
  def save(options, %Resource{id: id} = resource, rows) do
    case call(options, :save, [resource, rows]) do
      {:ok, ^id} -> :ok
      other -> failed(options, :save, other)
    end
  end

  @spec get(Options.t(), Store.key()) :: {:ok, Resource.t()} | :not_found | {:error, Error.t()}
  def get(options, key) do
    case call(options, :get, [key]) do
      {:ok, %Resource{}} = found -> found
      :not_found -> :not_found
      other -> failed(options, :get, other)
    end
  end

  @spec rows(Options.t(), Store.key(), non_neg_integer, non_neg_integer | :all) ::
          {:ok, [map]} | :not_found | {:error, Error.t()}
  def rows(options, key, offset, limit) do
    case call(options, :rows, [key, offset, limit]) do
      {:ok, rows} when is_list(rows) -> {:ok, rows}
      :not_found -> :not_found
      other -> failed(options, :rows, other)
    end
  end

  @spec update(Options.t(), Store.key(), map) :: :ok | :not_found | {:error, Error.t()}
  def update(options, key, changes), do: change(options, :update, [key, changes, Options.now(options)])

  @doc "Counts an access. Nobody waits for a place for it."
  @spec touch(Options.t(), Store.key(), map) :: :ok | :not_found | {:error, Error.t()}
  def touch(options, key, changes),
    do: change(options, :touch, [key, changes, Options.now(options)], wait: false)

  @spec delete(Options.t(), Store.key()) :: :ok | :not_found | {:error, Error.t()}
  def delete(options, key), do: change(options, :delete, [key])

  # It may go on when the client has left, so it keeps the client's place.
  defp change(server, function, arguments, options \\ []),
    do: Errand.run(server, options, fn -> done(server, function, arguments) end)

  defp done(options, function, arguments) do
    case call(options, function, arguments) do
      done when done in [:ok, :not_found] -> done
      other -> failed(options, function, other)
    end
  end

  @spec size(Options.t()) :: {:ok, Store.size()} | {:error, Error.t()}
  def size(options), do: size(options, :size, [])

  @doc "The size of one holder. `:unknown` if the store cannot tell."
  @spec size_of(Options.t(), {tenant :: term, subject :: term}) :: {:ok, Store.size()} | :unknown | {:error, Error.t()}
  def size_of(%{store: store} = options, holder) do
    if function_exported?(store, :size_of, 2), do: size(options, :size_of, [holder]), else: :unknown
  end

  defp size(options, function, arguments) do
    case call(options, function, arguments) do
      {:ok, %{resources: _, bytes: _}} = size -> size
      other -> failed(options, function, other)
    end
  end

  @spec least_used(Options.t(), pos_integer) :: {:ok, [Store.key()]} | {:error, Error.t()}
  def least_used(options, limit), do: keys(options, :least_used, [limit])

  @doc "The usage of each holder. `:unknown` if the store cannot tell."
  @spec holders(Options.t()) ::
          {:ok, [{{tenant :: term, subject :: term}, Store.size()}]} | :unknown | {:error, Error.t()}
  def holders(%{store: store} = options) do
    if function_exported?(store, :holders, 1), do: keys(options, :holders, []), else: :unknown
  end

  @spec least_used_of(Options.t(), {tenant :: term, subject :: term}, pos_integer) ::
          {:ok, [Store.key()]} | {:error, Error.t()}
  def least_used_of(options, holder, limit), do: keys(options, :least_used_of, [holder, limit])

  @doc "Deletes at most `limit` expired resources, and returns their number."
  @spec delete_expired(Options.t(), pos_integer) :: {:ok, non_neg_integer} | {:error, Error.t()}
  def delete_expired(%{store: store} = options, limit) do
    now = Options.now(options)

    if function_exported?(store, :delete_expired, 3) do
      with {:ok, keys} <- keys(options, :delete_expired, [now, limit]), do: {:ok, length(keys)}
    else
      with {:ok, keys} <- keys(options, :find_expired, [now, limit]),
           do: {:ok, Enum.count(keys, &(delete(options, &1) == :ok))}
    end
  end

  defp keys(options, function, arguments) do
    case call(options, function, arguments) do
      {:ok, keys} when is_list(keys) -> {:ok, keys}
      other -> failed(options, function, other)
    end
  end

  defp call(%{store: store, ref: ref}, function, arguments) do
    apply(store, function, [ref | arguments])
  catch
    kind, reason -> {:failed, kind, reason, __STACKTRACE__}
  end

  defp failed(%{store: store} = options, function, answer) do
    Trouble.log(options.name, "#{inspect(store)}.#{function}", answer)
    {:error, Error.new(:storage_error, "The store failed", cause: answer)}
  end
end
