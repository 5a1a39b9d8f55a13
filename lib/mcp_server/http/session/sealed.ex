defmodule McpServer.Http.Session.Sealed do
  @moduledoc false
  # A session id that contains the session. With `config :mcp_server, secret:` the state of a session is sealed in its
  # id. Any node with the secret can open the session from the id, also after a restart.
  #
  # The seal binds the id to the router, the mount, the principal and `session_lifetime`. It contains, with sizes in
  # bytes: the opening time and the lifetime (8 and 5, milliseconds), the node that opened it (6), a part of the digest
  # of each list (3 times 4), the log level (1), the capabilities (2), and the revision and the client's name and
  # version, each behind a length of one byte.

  alias McpServer.{Catalog, Changes, Protocol, Secret}
  alias McpServer.Http.Cluster.Node
  alias McpServer.Http.Mount
  alias McpServer.Http.Session.Capabilities
  alias McpServer.Protocol.ClientData
  alias McpServer.Connection.Session

  @purpose "session id"
  @most_bytes 64

  # Sealed ids contain a nonce and a tag. Ids without a seal are shorter than this.
  @least_bytes 64

  # Clients are notified when these lists change.
  @lists [:tools, :prompts, :resources]

  @typedoc """
  `:expires_at` is in milliseconds of the wall clock. `:home` is the mark of the node that opened the session first.
  `:changed` are the lists that have changed since then, for example by a deployment.
  """
  @type t :: %{
          opening: Protocol.opening(),
          log_level: String.t(),
          expires_at: pos_integer(),
          home: <<_::48>>,
          changed: [Changes.change()]
        }

  @doc "The id of a new session with a lifetime in milliseconds. `:error` if no secret is configured."
  @spec seal(Mount.place(), principal :: term(), Protocol.opening(), lifetime :: pos_integer()) ::
          {:ok, String.t()} | :error
  def seal(place, principal, opening, lifetime) do
    if Secret.configured?() do
      now = System.system_time(:millisecond)
      facts = [<<now::64, lifetime::40, Node.mark()::binary-size(6)>>, lists(place), client(opening)]
      {:ok, Protocol.seal(Secret.key(), principal, place, @purpose, IO.iodata_to_binary(facts), now + lifetime)}
    else
      :error
    end
  end

  defp lists({router, _mount}) do
    %{lists: digests} = Catalog.fetch(router)
    for list <- @lists, do: binary_part(digests[list], 0, 4)
  end

  defp client(opening) do
    info = opening.client_info |> term()
    capabilities = opening.client_capabilities |> term() |> Capabilities.to_flags()
    level = Enum.find_index(Session.log_levels(), &(&1 == %Session{}.log_level))
    texts = for text <- [opening.revision, info["name"], info["version"]], do: text(text)
    [<<level::8, capabilities::16>> | texts]
  end

  defp term(nil), do: %{}
  defp term(data), do: ClientData.to_term(data)

  defp text(text) when is_binary(text) do
    text = cut(text, @most_bytes)
    [byte_size(text), text]
  end

  defp text(_none), do: [0]

  # Cuts between characters.
  defp cut(text, most) when byte_size(text) <= most, do: text

  defp cut(text, most) do
    part = binary_part(text, 0, most)
    if String.valid?(part), do: part, else: cut(text, most - 1)
  end

  @doc "Whether an id seals a session."
  @spec sealed?(String.t()) :: boolean()
  def sealed?(id), do: byte_size(id) >= @least_bytes

  @doc "The session that an id seals, if place and principal match. `:error` for any other text."
  @spec open(String.t(), Mount.place(), principal :: term()) :: {:ok, t()} | :error
  def open(id, place, principal) do
    with true <- sealed?(id) and Secret.configured?(),
         {:ok, facts} <- Protocol.unseal(Secret.key(), principal, place, @purpose, id) do
      read(facts, lists(place))
    else
      _not_ours -> :error
    end
  end

  defp read(
         <<opened_at::64, lifetime::40, home::binary-size(6), tools::binary-size(4), prompts::binary-size(4),
           resources::binary-size(4), level, capabilities::16, r, revision::binary-size(r), n, name::binary-size(n), v,
           version::binary-size(v)>>,
         lists
       ) do
    changed = for {list, was, is} <- Enum.zip([@lists, [tools, prompts, resources], lists]), was != is, do: list

    opening = %{
      id: nil,
      revision: revision,
      client_info: %{"name" => name, "version" => version},
      client_capabilities: Capabilities.from_flags(capabilities)
    }

    {:ok,
     %{
       opening: opening,
       log_level: Enum.at(Session.log_levels(), level),
       expires_at: opened_at + lifetime,
       home: home,
       changed: changed
     }}
  end

  # Written by another release.
  defp read(_facts, _lists), do: :error
end
