defmodule McpServer.Http.Session.Sealed do
  @moduledoc false
  # A session id that is the session: where `config :mcp_server, secret:` is set, what a node has to know of a session is
  # sealed in its id, so any node with the secret opens the session from the id, after any restart.
  #
  # The seal binds the id to the router, the mount and the principal, and to `session_lifetime`. Inside are, in bytes: when
  # it was opened and how long it lives (8 and 5, milliseconds), the node it was opened on (6), a part of the digest of each
  # list (3 times 4), the log level (1), the capabilities (2), and behind a length of one byte each the revision and the
  # client's name and version.

  alias McpServer.{Catalog, Changes, Protocol, Secret}
  alias McpServer.Http.Cluster.Node
  alias McpServer.Http.Mount
  alias McpServer.Http.Session.Capabilities
  alias McpServer.Protocol.ClientData
  alias McpServer.Connection.Session

  @purpose "session id"
  @most_bytes 64

  # Ids without a seal are shorter, and a sealed one holds a nonce and a tag.
  @least_bytes 64

  # What clients are told of when it changes.
  @lists [:tools, :prompts, :resources]

  @typedoc """
  `:expires_at` is in milliseconds of the wall clock, `:home` the mark of the node that opened the session first. `:changed`
  are the lists that have become others since then, such as by a deploy.
  """
  @type t :: %{
          opening: Protocol.opening(),
          log_level: String.t(),
          expires_at: pos_integer(),
          home: <<_::48>>,
          changed: [Changes.change()]
        }

  @doc "The id of a new session, as long as it lives in milliseconds; `:error` where no secret is configured."
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

  # No character is cut in two.
  defp cut(text, most) when byte_size(text) <= most, do: text

  defp cut(text, most) do
    part = binary_part(text, 0, most)
    if String.valid?(part), do: part, else: cut(text, most - 1)
  end

  @doc "Whether a session is sealed in an id."
  @spec sealed?(String.t()) :: boolean()
  def sealed?(id), do: byte_size(id) >= @least_bytes

  @doc "The session that is sealed in an id, for its own place and principal; `:error` for any other text."
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

  # Of another release.
  defp read(_facts, _lists), do: :error
end
