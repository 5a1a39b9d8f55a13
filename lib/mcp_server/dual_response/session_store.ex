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

  The values of a session are one resource of the server. They count towards its `:max_resources` and `:max_bytes`, and
  expire like other resources. No client can read them, because their owner is not a principal.
  """

  @behaviour McpServer.SessionStore

  alias McpServer.DualResponse.{Options, Resource, Room, Storage}

  @impl true
  def get(options, key) do
    with {:ok, server} <- server(options),
         {:ok, resource} <- Storage.get(server, {nil, key}),
         false <- Resource.expired?(resource, Options.now(server)) do
      Base.decode64(resource.metadata["value"])
    else
      {:error, error} -> {:error, error}
      _none_or_expired -> :none
    end
  end

  @impl true
  def put(options, key, value, ttl, holder) do
    with {:ok, server} <- server(options),
         resource = resource(server, key, value, ttl, holder),
         changes = Map.take(resource, [:metadata, :deadline, :expires_at]),
         :not_found <- Storage.update(server, {nil, key}, changes) do
      save(server, resource)
    end
  end

  # An expired record that was not yet deleted blocks the id.
  defp save(server, resource) do
    with deleted when deleted in [:ok, :not_found] <- Storage.delete(server, Resource.key(resource)),
         :ok <- Storage.save(server, resource, nil),
         do: Room.make(server, resource)
  end

  # The recorded size of every value, so that a value may grow without a new count.
  @bytes 16 * 1024

  defp resource(server, key, value, ttl, holder) do
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
      deadline: Options.now(server) + ttl,
      subject: owner(key, holder),
      metadata: %{"value" => Base.encode64(value)},
      bytes: @bytes
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
    with {:ok, server} <- server(options),
         :not_found <- Storage.delete(server, {nil, key}),
         do: :ok
  end

  defp server(options), do: options |> Keyword.fetch!(:server) |> Storage.server()
end
