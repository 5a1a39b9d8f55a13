defmodule McpServer.DualResponse.SessionStore do
  @moduledoc """
  Stores the values of sessions (`McpServer.Session`) in the store of a `McpServer.DualResponse`: Mnesia, PostgreSQL, or
  your own store.

      children = [
        MyApp.Repo,
        {McpServer.DualResponse,
         name: MyApp.Results,
         base_url: "https://api.example.com/resources",
         store: {McpServer.DualResponse.Store.Ecto, repo: MyApp.Repo}},
        MyAppWeb.Endpoint
      ]

      # config/config.exs
      config :mcp_server, session_store: {McpServer.DualResponse.SessionStore, server: MyApp.Results}

  | option | |
  |---|---|
  | `:server` | required: the name of the dual response server |

  The values of a session are one resource of the store, and each ended session is another. They have names of their own
  there, such as `MyApp.Results.SessionValues` and `MyApp.Results.EndedSessions`, with limits of their own, so that
  results, values and ended sessions never take each other's space. All values have 64 MiB, and those of one owner a
  quarter of it. Above that, the least recently stored values of the largest owner are deleted. No client can read
  values or ended sessions, because their owner is not a principal.
  """

  @behaviour McpServer.SessionStore

  alias McpServer.DualResponse.{Errand, Error, Options, Resource, Room, Storage}

  # Of values. The node that stores an ended session limits their number.
  @limits %{max_resources: 100_000, max_bytes: 64 * 1024 * 1024, max_share: 25}
  # The record of a value without the value.
  @record_bytes 512

  # The options of a server's rooms for session data, by their keys.
  @doc false
  @spec rooms(Options.t()) :: [{Options.key(), Options.t()}]
  def rooms(%Options{name: server} = options) do
    for {room, name} <- [values: SessionValues, ended: EndedSessions],
        do: {{server, room}, options |> Map.merge(@limits) |> Map.put(:name, Module.concat(server, name))}
  end

  defp open(options, key), do: Storage.server({Keyword.fetch!(options, :server), room(key)})

  defp room(key), do: if(String.starts_with?(key, "ended:"), do: :ended, else: :values)

  @impl true
  def get(options, key) do
    with {:ok, room} <- open(options, key),
         {:ok, resource} <- Storage.get(room, {nil, key}),
         false <- Resource.expired?(resource, Options.now(room)) do
      Base.decode64(resource.metadata["value"])
    else
      {:error, error} -> {:error, error}
      _none_or_expired -> :none
    end
  end

  @impl true
  def put(options, key, value, ttl, holder) do
    with {:ok, room} <- open(options, key) do
      resource = resource(room, key, value, ttl, holder)
      store = fn -> replace_or_save(room, resource) end

      if room(key) == :values,
        do: Room.keep(room, resource, holder, store),
        else: Errand.run(room, [client: holder], store)
    end
    |> failure()
  end

  # Without a log line for what one client asks for.
  defp failure({:error, %Error{cause: :full}}), do: {:error, :full}
  defp failure(stored_or_error), do: stored_or_error

  defp replace_or_save(room, resource) do
    changes = Map.take(resource, [:metadata, :deadline, :expires_at, :bytes])
    with :not_found <- Storage.update(room, Resource.key(resource), changes), do: save(room, resource)
  end

  # An expired record that was not yet deleted blocks the id.
  defp save(room, resource) do
    with deleted when deleted in [:ok, :not_found] <- Storage.delete(room, Resource.key(resource)),
         do: Storage.save(room, resource, nil)
  end

  defp resource(room, key, value, ttl, holder) do
    %Resource{
      id: key,
      name: "session",
      columns: [],
      total_count: 0,
      sample_data: [],
      persist: :rows,
      sort_mode: :memory,
      created_at: DateTime.truncate(DateTime.utc_now(), :second),
      expires_at: DateTime.utc_now() |> DateTime.add(ttl, :millisecond) |> DateTime.truncate(:second),
      deadline: Options.now(room) + ttl,
      subject: owner(key, holder),
      metadata: %{"value" => Base.encode64(value)},
      bytes: byte_size(value) + @record_bytes
    }
  end

  # Each principal is a separate holder, so that its share is limited.
  defp owner(key, nil), do: "session " <> key

  defp owner(_key, holder) do
    digest = :crypto.hash(:sha256, :erlang.term_to_binary(holder, [:deterministic, minor_version: 2]))
    "sessions of " <> Base.url_encode64(digest, padding: false)
  end

  @impl true
  def delete(options, key) do
    with {:ok, room} <- open(options, key),
         :not_found <- Storage.delete(room, {nil, key}),
         do: :ok
  end
end
