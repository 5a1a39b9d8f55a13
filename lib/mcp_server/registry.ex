defmodule McpServer.Registry do
  @moduledoc false
  # Makes the `server.json` of the MCP registry for a router, and checks it against the registry's schema. The schema,
  # without its descriptions and examples, and its licence are beside this file.

  alias McpServer.{JSON, Schema}

  @schema_file Path.join(__DIR__, "registry/server.schema.json")
  @external_resource @schema_file
  @schema JSON.decode!(File.read!(@schema_file))

  @typedoc "`:packages` – an image (`oci`), or a bundle (`mcpb`) with its future URL."
  @type options :: %{
          name: String.t(),
          description: String.t(),
          version: String.t(),
          url: String.t() | nil,
          headers: [String.t()],
          packages: [{:oci, String.t()} | {:mcpb, url :: String.t(), Path.t()}]
        }

  @doc "The document, with its members in reading order. `{:error, lines}` if the registry would refuse it."
  @spec document(module(), options()) :: {:ok, map()} | {:error, [String.t()]}
  def document(router, options) do
    server = router.__mcp__(:server)

    document =
      %{
        "$schema" => @schema["$id"],
        "name" => options.name,
        "title" => server[:title],
        "description" => options.description,
        "version" => options.version,
        "websiteUrl" => server[:website_url],
        "remotes" => remotes(options),
        "packages" => Enum.map(options.packages, &package(&1, options))
      }
      |> Map.reject(fn {_name, value} -> value in [nil, []] end)

    with [] <- problems(document) ++ missing(document), do: {:ok, document}, else: (lines -> {:error, lines})
  end

  defp remotes(%{url: nil}), do: []
  defp remotes(%{url: url, headers: []}), do: [%{"type" => "streamable-http", "url" => url}]

  defp remotes(%{url: url, headers: headers}) do
    headers = for name <- headers, do: %{"name" => name, "isRequired" => true, "isSecret" => true}
    [%{"type" => "streamable-http", "url" => url, "headers" => headers}]
  end

  defp package({:oci, image}, _options),
    do: %{"registryType" => "oci", "identifier" => image, "transport" => %{"type" => "stdio"}}

  defp package({:mcpb, url, path}, options) do
    %{
      "registryType" => "mcpb",
      "identifier" => url,
      "version" => options.version,
      "transport" => %{"type" => "stdio"},
      "fileSha256" => :sha256 |> :crypto.hash(File.read!(path)) |> Base.encode16(case: :lower)
    }
  end

  defp problems(document) do
    {:ok, validator} = Schema.Validator.compile(@schema)

    case Schema.Validator.validate(validator, document) do
      :ok -> []
      {:error, %{problems: problems}} -> Enum.map(problems, & &1.message)
    end
  end

  # Rules that the schema does not express.
  defp missing(document) do
    for {true, line} <- [
          {not is_map_key(document, "remotes") and not is_map_key(document, "packages"),
           "a server is offered with --url, --oci or --mcpb"},
          {document["version"] =~ ~r/[\^~<>=*]|\.x\b|\Alatest\z/, "/version must be one exact version"}
        ],
        do: line
  end
end
