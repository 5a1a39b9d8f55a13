defmodule McpServer.Client.Http.Headers do
  @moduledoc false
  # The headers of a message: its type, its session and, since 2026-07-28, values from its body.

  alias McpServer.Client.Http.Batch
  alias McpServer.Fetch

  @version "io.modelcontextprotocol/protocolVersion"
  @named %{
    "tools/call" => "name",
    "prompts/get" => "name",
    "resources/read" => "uri",
    "tasks/get" => "taskId",
    "tasks/update" => "taskId",
    "tasks/cancel" => "taskId"
  }
  @typed ~w(string integer boolean)

  @typedoc "The arguments of a tool that headers repeat: the path of each argument, and its header."
  @type parameters :: [{path :: [String.t()], header :: String.t()}]

  @typedoc "The session of a link. Both members are `nil` before `initialize` and in the stateless era."
  @type session :: %{id: String.t() | nil, revision: String.t() | nil}

  @doc "The revision in a message, `nil` in the session era and for a batch."
  @spec revision(map() | Batch.t()) :: String.t() | nil
  def revision(%{"params" => %{"_meta" => %{@version => revision}}}), do: revision
  def revision(_message), do: nil

  # Outside a session.
  @no_session %{id: nil, revision: nil}

  @doc "All headers of a message that is posted, but those of its user."
  @spec of_post(map() | Batch.t(), parameters(), session()) :: [{String.t(), String.t()}]
  def of_post(message, parameters \\ [], session \\ @no_session) do
    [{"content-type", "application/json"}, {"accept", "application/json, text/event-stream"}] ++
      of(message, parameters, session)
  end

  @doc "The headers of a message. A message of the session era has those of `session`."
  @spec of(map() | Batch.t(), parameters(), session()) :: [{String.t(), String.t()}]
  def of(message, parameters, session) do
    case revision(message) do
      nil -> session(session)
      revision -> [{"mcp-protocol-version", revision} | mirrored(message, parameters)]
    end
  end

  @doc "The headers of every request of a session."
  @spec session(session()) :: [{String.t(), String.t()}]
  def session(%{id: id, revision: revision}),
    do:
      for(
        {name, value} when value != nil <- [{"mcp-session-id", id}, {"mcp-protocol-version", revision}],
        do: {name, value}
      )

  defp mirrored(%{"method" => method, "params" => params}, parameters) do
    named = for {:ok, text} <- [text(params, [Map.get(@named, method)])], do: {"mcp-name", encode(text)}

    repeated =
      for {path, header} <- parameters,
          {:ok, text} <- [text(params["arguments"], path)],
          do: {"mcp-param-" <> header, encode(text)}

    [{"mcp-method", method} | named ++ repeated]
  end

  defp text(value, []) when is_binary(value), do: {:ok, value}
  defp text(value, []) when is_integer(value), do: {:ok, Integer.to_string(value)}
  defp text(value, []) when is_boolean(value), do: {:ok, Atom.to_string(value)}
  defp text(%{} = object, [name | path]) when is_map_key(object, name), do: text(object[name], path)
  defp text(_other, _path), do: :none

  # A header value is visible ASCII without surrounding blanks. Other texts are encoded as Base64.
  defp encode(text) do
    plain? = text =~ ~r/\A[\x21-\x7E](?:[\x20-\x7E]*[\x21-\x7E])?\z/ and not String.starts_with?(text, "=?base64?")
    if plain?, do: text, else: "=?base64?" <> Base.encode64(text) <> "?="
  end

  @doc """
  The arguments of a tool that its schema marks with `x-mcp-header`. The server chooses the text of a mark: one that cannot
  be the name of a header is ignored.
  """
  @spec parameters(map()) :: parameters()
  def parameters(tool), do: walk(tool["inputSchema"], [])

  defp walk(%{"properties" => %{} = properties} = schema, path) do
    marked(schema, path) ++ Enum.flat_map(properties, fn {name, inner} -> walk(inner, path ++ [name]) end)
  end

  defp walk(%{} = schema, path), do: marked(schema, path)
  defp walk(_other, _path), do: []

  defp marked(%{"x-mcp-header" => header, "type" => type}, [_ | _] = path) when is_binary(header) and type in @typed,
    do: if(Fetch.header?({header, ""}), do: [{path, String.downcase(header)}], else: [])

  defp marked(_schema, _path), do: []
end
