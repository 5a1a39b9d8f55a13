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

  # Rules of the registry that the schema does not express.
  defp missing(document) do
    for {true, line} <- [
          {not is_map_key(document, "remotes") and not is_map_key(document, "packages"),
           "a server is offered with --url, --oci or --mcpb"},
          {document["name"] =~ ~r/\A[^\/]+\/[^\/]+\z/ and not (document["name"] =~ name()),
           "/name must be two names of at least two characters with a slash between them; each begins and ends with a " <>
             "letter or a digit, such as io.github.ada/my_app"},
          {is_binary(document["title"]) and String.trim(document["title"]) == "", "/title must not be blank"},
          {document["version"] =~ ~r/[\^~<>=*]|\.x\b|\Alatest\z/, "/version must be one exact version"},
          {is_binary(document["websiteUrl"]) and not https?(document["websiteUrl"]),
           "/websiteUrl must be an https URL: change website_url: of the router"}
        ] do
      line
    end ++ Enum.flat_map(document["remotes"] || [], &remote/1) ++ Enum.flat_map(document["packages"] || [], &blank/1)
  end

  defp name, do: ~r/\A[a-zA-Z0-9][a-zA-Z0-9.-]*[a-zA-Z0-9]\/[a-zA-Z0-9][a-zA-Z0-9._-]*[a-zA-Z0-9]\z/

  defp remote(%{"url" => url}) do
    for {true, line} <- [
          {url =~ ~r/[{}]/,
           "a variable in {braces} has to be declared, and this task declares none: write the whole URL"},
          {not https?(url), "it must be an https URL, because clients send tokens there"},
          {local?(URI.parse(url).host || ""), "it must not be on this machine, because other clients cannot reach it"}
        ],
        do: "/remotes/0/url: #{line}"
  end

  defp https?(url), do: match?(%URI{scheme: "https", host: <<_first, _rest::binary>>}, URI.parse(url))

  defp local?(host),
    do: host in ["localhost", "::1"] or String.starts_with?(host, "127.") or String.ends_with?(host, ".localhost")

  defp blank(%{"identifier" => identifier}),
    do: if(identifier =~ " ", do: ["/packages: an image or an address has no blanks: #{inspect(identifier)}"], else: [])
end
