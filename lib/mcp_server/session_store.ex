defmodule McpServer.SessionStore do
  @moduledoc """
  A store for the values of sessions (`McpServer.Session`), and for the ids of sealed sessions that clients have ended.
  An open sealed session calls `c:get/2` at most once in five seconds, at a request, to see whether it has ended.

      config :mcp_server, session_store: MyApp.SessionStore
      config :mcp_server, session_store: {MyApp.SessionStore, table: "sessions"}

  The default store is the memory of the node. A store is a module with these callbacks. They are called concurrently in
  the processes of the calls, with the configured options. Exceptions and `{:error, reason}` of a callback are logged;
  the handler gets `{:error, :unavailable}`.

  A key is a string of 43 characters, a value a binary of at most 16 KiB. Neither can be read without the secret or the
  id of the session. `holder` identifies the owner, so that a store can limit the space of each owner. It is a term for
  a principal, or for the address of a client without a principal, or `nil`.

  The key of an ended session begins with `ended:`, and its value is empty. Each node stores at most 100,000 of them, a
  quarter of them for one owner, and deletes those that it drops. A store should keep them apart from values, so that
  neither takes the other's space.
  """

  require Logger

  alias McpServer.{Outline, SessionStore}

  @type key :: String.t()
  @type failure :: {:error, :full | term()}

  @doc "The value of a key; `:none` for an expired value."
  @callback get(options :: keyword(), key()) :: {:ok, binary()} | :none | failure()

  @doc "Stores a value for `ttl` milliseconds, in place of an existing one. `{:error, :full}`: there is no space."
  @callback put(options :: keyword(), key(), binary(), ttl :: pos_integer(), holder :: term()) :: :ok | failure()

  @doc "Deletes a value, if it exists."
  @callback delete(options :: keyword(), key()) :: :ok | failure()

  @default SessionStore.ETS

  @doc false
  @spec get(key()) :: {:ok, binary()} | :none | {:error, :unavailable}
  def get(key) do
    case call(:get, [key]) do
      {:ok, value} when is_binary(value) -> {:ok, value}
      :none -> :none
      other -> failed(:get, other)
    end
  end

  @doc false
  @spec put(key(), binary(), pos_integer(), holder :: term()) :: :ok | {:error, :full | :unavailable}
  def put(key, value, ttl, holder) do
    case call(:put, [key, value, ttl, holder]) do
      :ok -> :ok
      {:error, :full} -> {:error, :full}
      other -> failed(:put, other)
    end
  end

  @doc false
  @spec delete(key()) :: :ok | {:error, :unavailable}
  def delete(key) do
    case call(:delete, [key]) do
      :ok -> :ok
      other -> failed(:delete, other)
    end
  end

  # The key of an ended session, of which only a digest is known.
  @doc false
  @spec ended_key(digest :: binary()) :: key()
  def ended_key(digest), do: "ended:" <> Base.url_encode64(digest, padding: false)

  # Whether other nodes may have the same store.
  @doc false
  @spec shared?() :: boolean()
  def shared?, do: elem(configured(), 0) != @default

  defp configured do
    case Application.get_env(:mcp_server, :session_store, @default) do
      {module, options} -> {module, options}
      module -> {module, []}
    end
  end

  defp call(function, arguments) do
    {module, options} = configured()
    apply(module, function, [options | arguments])
  catch
    kind, reason -> {kind, reason}
  end

  defp failed(function, answer) do
    {module, _options} = configured()
    Logger.error("MCP session store: #{inspect(module)}.#{function} answered with #{Outline.of(answer)}")
    {:error, :unavailable}
  end
end
