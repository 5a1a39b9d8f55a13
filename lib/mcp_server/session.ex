defmodule McpServer.Session do
  @moduledoc """
  Stores small values of a session, which handlers can read in later calls of the same client.

      def choose(conn, %{"project" => project}) do
        :ok = McpServer.Session.put_session(conn, "project", project)
        {:ok, "Working on \#{project}"}
      end

      def build(conn, _arguments) do
        case McpServer.Session.get_session(conn, "project") do
          nil -> {:error, "Choose a project first"}
          project -> {:ok, Builds.start(project)}
        end
      end

  Values are plain data: strings, numbers, booleans, `nil`, atoms of your code, lists, tuples, maps and structs. All
  values of a session take at most 16 KiB. They belong to the session, its principal, its router and its mount. They are
  deleted when the client ends its session, and at the latest a day after the last `put_session/3`.

  ## Without sessions

  Clients of revision 2026-07-28 have no sessions, so `put_session/3` returns `{:error, :no_session}`. A tool can
  instead give the client a handle, and other tools take it as an argument. This works with every revision:

      def open_basket(conn, _arguments) do
        {:ok, handle, _conn} = McpServer.Session.open_handle(conn)
        {:ok, %{"basket" => handle}}
      end

      def add(conn, %{"basket" => handle, "item" => item}) do
        with {:ok, conn} <- McpServer.Session.use_handle(conn, handle),
             items = McpServer.Session.get_session(conn, "items", []),
             :ok <- McpServer.Session.put_session(conn, "items", [item | items]) do
          {:ok, "\#{length(items) + 1} items"}
        else
          {:error, :unknown_handle} -> {:error, "There is no such basket. Open one with open_basket."}
          {:error, :too_large} -> {:error, "The basket is full"}
        end
      end

  A handle has 128 random bits, and works only for its principal. It does not authenticate the client.

  ## Stores

  By default values are in the memory of the node: at most 64 MiB, and 16 MiB for one principal, or for one address
  without a principal. To keep them across restarts and on all nodes, configure a store:

      config :mcp_server, session_store: {McpServer.DualResponse.SessionStore, server: MyApp.Results}

  `McpServer.DualResponse.SessionStore` uses the store of a `McpServer.DualResponse`: Mnesia or PostgreSQL. For another
  store write a module with the callbacks of `McpServer.SessionStore`.

  During a deploy nodes of two releases may share a store. A value with an atom that only the newer release knows, such
  as a new struct or field, cannot be read by the older one: `get_session/3` raises. The session's other values stay
  readable, and changes keep it.

  Concurrent calls change the values of a session or a handle one after the other, on all connected nodes that share a
  store. `get_session/3` and a later `put_session/3` are not one change. On nodes that are not connected the last write
  wins.
  """

  require Logger

  alias McpServer.{Conn, SessionStore}
  alias McpServer.Native.Dirty
  alias McpServer.Quota.Client

  @max_bytes 16 * 1024
  @ttl_ms :timer.hours(24)
  @handle_bytes 16

  @typedoc "Any term without processes, references, ports and functions."
  @type value :: term()
  @type key :: String.t() | atom()

  @typedoc """
  The reason why a value was not stored: there is no session, the session's values would take more than 16 KiB, the
  store is full, or the store failed, which is logged.
  """
  @type failure :: :no_session | :too_large | :full | :unavailable

  @doc """
  Stores a value under a key and replaces an existing one. The values of the session live for another day.

  Raises `ArgumentError` for a value with a process, reference, port or function in it.
  """
  @spec put_session(Conn.t(), key(), value()) :: :ok | {:error, failure()}
  def put_session(%Conn{} = conn, key, value) when is_binary(key) or is_atom(key) do
    plain?(value) ||
      raise ArgumentError, "a session keeps plain data, and #{inspect(key)} has a process or a function in it"

    change(conn, &Map.put(&1, encoded(key), encoded(value)))
  end

  @doc """
  The value under a key, or `default`.

  Raises `RuntimeError` if the store fails, or if the value has an atom that this node does not know. So neither is
  mistaken for a missing value.
  """
  @spec get_session(Conn.t(), key(), default :: term()) :: term()
  def get_session(%Conn{} = conn, key, default \\ nil) do
    stored = encoded(key)

    with {:ok, place} <- place(conn),
         {:ok, %{^stored => value}} <- read(place) do
      decoded!(value, key)
    else
      {:error, :unavailable} -> raise "the session store failed"
      _no_session_or_values -> default
    end
  end

  @doc "Deletes the value under a key."
  @spec delete_session(Conn.t(), key()) :: :ok | {:error, failure()}
  def delete_session(%Conn{} = conn, key), do: change(conn, &Map.delete(&1, encoded(key)))

  @doc """
  Returns a new handle, and a conn that reads and writes the values of the handle.

  The handle is a string of 22 characters. The client sends it back as an argument of a tool.
  """
  @spec open_handle(Conn.t()) :: {:ok, handle :: String.t(), Conn.t()} | {:error, failure()}
  def open_handle(%Conn{} = conn) do
    handle = Base.url_encode64(:crypto.strong_rand_bytes(@handle_bytes), padding: false)
    conn = with_handle(conn, handle)
    with :ok <- change(conn, & &1), do: {:ok, handle, conn}
  end

  @doc "Returns a conn that reads and writes the values of a handle of `open_handle/1`, for the same principal."
  @spec use_handle(Conn.t(), handle :: String.t()) :: {:ok, Conn.t()} | {:error, :unknown_handle | :unavailable}
  def use_handle(%Conn{} = conn, handle) when is_binary(handle) do
    conn = with_handle(conn, handle)
    {:ok, place} = place(conn)

    case read(place) do
      {:ok, _values} -> {:ok, conn}
      :none -> {:error, :unknown_handle}
      {:error, reason} -> {:error, reason}
    end
  end

  # The tag keeps handles apart from session ids, so a client cannot use a session's id as a handle.
  defp with_handle(conn, handle), do: Conn.put_private(conn, __MODULE__, {:handle, handle})

  # Deletes the values of a session that its client has ended.
  @doc false
  @spec forget(Conn.t(), Client.t()) :: :ok | {:error, :unavailable}
  def forget(conn, client \\ nil) do
    # The store may go on after this process.
    Dirty.work_for(client)
    {:ok, {key, _client}} = place(conn)
    SessionStore.delete(key)
  end

  defp change(conn, fun) do
    with {:ok, {key, _client} = place} <- place(conn),
         do: :global.trans({{__MODULE__, key}, self()}, fn -> change_alone(place, fun) end, nodes(conn))
  end

  # Calls with one handle may run on several nodes, but those of a session run on the connected node that owns it.
  defp nodes(%Conn{private: %{__MODULE__ => {:handle, _handle}}}),
    do: if(SessionStore.shared?(), do: [node() | Node.list()], else: [node()])

  defp nodes(_conn), do: [node()]

  defp change_alone({key, client} = place, fun) do
    with {:ok, values} <- values(place) do
      bytes = values |> fun.() |> :erlang.term_to_binary()

      if byte_size(bytes) <= @max_bytes,
        do: SessionStore.put(key, bytes, @ttl_ms, client),
        else: {:error, :too_large}
    end
  end

  defp values(place) do
    with :none <- read(place), do: {:ok, %{}}
  end

  defp read({key, _client}) do
    with {:ok, bytes} <- SessionStore.get(key), do: {:ok, :erlang.binary_to_term(bytes, [:safe])}
  rescue
    ArgumentError ->
      Logger.error("MCP session store: the bytes of a session are not those that were stored")
      {:error, :unavailable}
  end

  # Each key and value is encoded separately, so that an atom of another release makes only its own value unreadable.
  defp encoded(term), do: :erlang.term_to_binary(term, minor_version: 2)

  defp decoded!(value, key) do
    :erlang.binary_to_term(value, [:safe])
  rescue
    ArgumentError ->
      raise "the session's value #{inspect(key)} has an atom that this node does not know, such as one of a newer release"
  end

  # Another principal's, router's or mount's values have another key. The store learns no id.
  defp place(conn) do
    case Map.get(conn.private, __MODULE__) || conn.session_id do
      nil -> {:error, :no_session}
      id -> {:ok, {key({id, conn.principal, conn.router, conn.mount}), Client.new(conn.principal, conn.peer)}}
    end
  end

  defp key(place) do
    bytes = :erlang.term_to_binary(place, [:deterministic, minor_version: 2])
    Base.url_encode64(:crypto.hash(:sha256, bytes), padding: false)
  end

  defp plain?(term) when is_function(term) or is_pid(term) or is_port(term) or is_reference(term), do: false
  defp plain?([head | tail]), do: plain?(head) and plain?(tail)
  defp plain?(term) when is_tuple(term), do: term |> Tuple.to_list() |> plain?()
  defp plain?(term) when is_map(term), do: term |> :maps.to_list() |> plain?()
  defp plain?(_term), do: true
end
