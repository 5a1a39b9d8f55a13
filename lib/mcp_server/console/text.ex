defmodule McpServer.Console.Text do
  @moduledoc false
  # A server's data as text for a terminal. A terminal would obey control characters: in a text they are removed, in JSON
  # they are escaped.

  alias McpServer.Console.Arguments
  alias McpServer.JSON

  @doc "A text without control characters. Tabs and line ends stay."
  @spec safe(term()) :: String.t()
  def safe(text) when is_binary(text), do: String.replace(text, obeyed(), "")

  def safe(other), do: json(other)

  @doc "A value as JSON with one member per line."
  @spec json(term()) :: String.t()
  def json(value), do: value |> JSON.encode!(pretty: true) |> escaped()

  @doc "A value as JSON on one line."
  @spec inline(term()) :: String.t()
  def inline(value), do: value |> JSON.encode!() |> escaped()

  # JSON escapes only the first 32. The others can be in strings alone, and none is beyond the 16 bits of an escape.
  defp escaped(json) do
    String.replace(json, obeyed(), fn <<character::utf8>> ->
      "\\u" <> (character |> Integer.to_string(16) |> String.pad_leading(4, "0"))
    end)
  end

  defp obeyed, do: ~r/[\x{00}-\x{08}\x{0B}-\x{1F}\x{7F}-\x{9F}\x{202A}-\x{202E}\x{2066}-\x{2069}]/u

  @doc "A server and all its lists on one screen."
  @spec lists(map()) :: iodata()
  def lists(lists) do
    sections = [
      section("Tools", lists["tools"], &tool/1),
      section("Prompts", lists["prompts"], &prompt/1),
      section("Resources", lists["resources"], &resource(&1, "uri")),
      section("Resource templates", lists["resourceTemplates"], &resource(&1, "uriTemplate"))
    ]

    [server(lists) | sections]
  end

  defp server(%{"server" => server, "protocolVersion" => revision}) do
    name = for part <- [server["name"], server["version"]], is_binary(part), do: [safe(part), " "]
    [name, "(MCP ", safe(revision), ")\n"]
  end

  defp section(_title, [], _line), do: []
  defp section(title, items, line), do: ["\n", title, "\n" | Enum.map(items, line)]

  defp tool(tool), do: entry([tool["name"] | arguments(tool["inputSchema"] || %{})], tool)

  defp prompt(prompt) do
    words = for argument <- prompt["arguments"] || [], do: word(argument["name"], "text", argument["required"] == true)
    entry([prompt["name"] | words], prompt)
  end

  defp resource(resource, member) do
    about = for text <- [resource["name"], resource["mimeType"]], is_binary(text), do: text
    entry([resource[member], "(#{Enum.join(about, ", ")})"], resource)
  end

  defp entry(words, object) do
    description = for line <- object |> description() |> String.split("\n", trim: true), do: ["    ", line, "\n"]
    ["  ", words |> Enum.map(&safe/1) |> Enum.intersperse(" "), "\n" | description]
  end

  defp description(object), do: safe(object["description"] || object["title"] || "")

  @doc "The arguments of a schema in the form for typing, the required ones first: `a=integer [b=string]`."
  @spec arguments(map()) :: [String.t()]
  def arguments(schema) do
    required = List.wrap(schema["required"])

    schema
    |> Arguments.properties()
    |> Enum.sort_by(fn {name, _property} -> {name not in required, name} end)
    |> Enum.map(fn {name, property} -> word(name, type(property, schema), name in required) end)
  end

  defp word(name, type, true), do: "#{name}=#{type}"
  defp word(name, type, false), do: "[#{name}=#{type}]"

  @doc "The type of a property, or its allowed values."
  @spec type(map(), map()) :: String.t()
  def type(property, root) do
    case {property, Arguments.types(property, root)} do
      {%{"enum" => [_ | _] = values}, _types} -> Enum.map_join(values, "|", &value/1)
      {_property, []} -> "any"
      {_property, types} -> Enum.join(types, "|")
    end
  end

  defp value(value) when is_binary(value), do: value
  defp value(value), do: JSON.encode!(value)

  @doc "The result of a tool: its content, and the structured content if it adds data."
  @spec call(map()) :: iodata()
  def call(result) do
    structured = result["structuredContent"]
    blocks = for block <- List.wrap(result["content"]), not same?(block, structured), do: [content(block), "\n"]
    if structured == nil, do: blocks, else: [blocks, json(structured), "\n"]
  end

  # The text that repeats the structured content for older clients.
  defp same?(_block, nil), do: false
  defp same?(%{"type" => "text", "text" => text}, structured), do: JSON.decode(text) == {:ok, structured}
  defp same?(_block, _structured), do: false

  @doc "The messages of a prompt."
  @spec messages(map()) :: iodata()
  def messages(result),
    do:
      for(
        message <- List.wrap(result["messages"]),
        do: [safe(message["role"]), ": ", content(message["content"]), "\n"]
      )

  @doc "The contents of a resource."
  @spec contents(map()) :: iodata()
  def contents(result), do: for(contents <- List.wrap(result["contents"]), do: [embedded(contents), "\n"])

  defp content(%{"type" => "text", "text" => text}), do: safe(text)

  defp content(%{"type" => type, "data" => data} = block) when type in ["image", "audio"],
    do: "[#{type}, #{safe(block["mimeType"])}, #{bytes(data)} bytes]"

  defp content(%{"type" => "resource", "resource" => %{"uri" => uri} = resource}),
    do: ["[resource ", safe(uri), "]\n", embedded(resource)]

  defp content(%{"type" => "resource_link", "uri" => uri} = link), do: ["[link ", safe(uri), "] ", description(link)]
  defp content(blocks) when is_list(blocks), do: blocks |> Enum.map(&content/1) |> Enum.intersperse("\n")
  defp content(other), do: json(other)

  defp embedded(%{"text" => text}), do: safe(text)
  defp embedded(%{"blob" => data} = blob), do: "[#{safe(blob["mimeType"] || "blob")}, #{bytes(data)} bytes]"
  defp embedded(other), do: json(other)

  defp bytes(data) do
    case Base.decode64(data) do
      {:ok, bytes} -> byte_size(bytes)
      :error -> 0
    end
  end

  @doc "A JSON-RPC error."
  @spec error(map()) :: iodata()
  def error(error) do
    data = if error["data"] != nil, do: ["\n", json(error["data"])], else: []
    ["error #{inspect(error["code"])}: ", safe(error["message"]) | data]
  end

  @doc "A server's notification as a line. `nil` if the developer does not need it."
  @spec notification(String.t(), map()) :: iodata() | nil
  def notification("notifications/progress", params) do
    total = if params["total"] != nil, do: ["/", json(params["total"])], else: []
    message = if params["message"] != nil, do: [" ", safe(params["message"])], else: []
    ["progress ", json(params["progress"]), total | message]
  end

  def notification("notifications/message", params) do
    data = if is_binary(params["data"]), do: params["data"], else: JSON.encode!(params["data"])
    logger = if params["logger"], do: [" (", safe(params["logger"]), ")"], else: []
    [safe(params["level"]), logger, ": ", safe(data)]
  end

  def notification(_method, _params), do: nil
end
