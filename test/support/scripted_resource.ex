defmodule McpServer.ScriptedResource do
  # The resource "abc123" of a dual response from the client's side. Its server is a `McpServer.ScriptedServer`.
  @moduledoc false

  import McpServer.ScriptedServer

  alias McpServer.DualResponse.Client
  alias McpServer.JSON

  @doc "The parsed result of a tool. The resource is below `/resources` of the server."
  @spec parsed(McpServer.ScriptedServer.t() | %{url: String.t()} | Client.t(), keyword(), map()) :: Client.Parsed.t()
  def parsed(server, options \\ [], metadata \\ %{})
  def parsed(%Client{} = client, _options, metadata), do: parsed_of(client, %{"uri" => "resource://abc123"}, metadata)

  def parsed(%{url: url}, options, metadata),
    do: parsed(Client.new([base_url: url <> "/resources"] ++ options), [], metadata)

  @doc "Like `parsed/3`, for a tool result with this description of the resource."
  @spec parsed_of(Client.t(), map(), map()) :: Client.Parsed.t()
  def parsed_of(client, resource, metadata \\ %{}) do
    Client.parse_structured(client, %{
      "results" => [],
      "resource" => resource,
      "metadata" => Map.merge(%{"total_count" => 847, "columns" => [%{"name" => "id", "type" => "number"}]}, metadata)
    })
  end

  @doc "A correct server with rows that have the ids 1 to `total`."
  @spec numbers(non_neg_integer()) :: McpServer.ScriptedServer.t()
  def numbers(total) do
    start(fn request ->
      %{"offset" => offset, "limit" => limit} = JSON.decode!(request.body)
      ids = Enum.slice(1..total//1, offset, limit)
      next = offset + length(ids)
      json(page(ids, offset, total, if(next < total, do: next)))
    end)
  end

  @doc "The body of a page."
  @spec page([integer()] | Range.t(), non_neg_integer(), non_neg_integer(), non_neg_integer() | nil) :: map()
  def page(ids, offset, total, next \\ nil) do
    rows = Enum.map(ids, &row/1)

    %{
      "data" => rows,
      "total_count" => total,
      "returned_count" => length(rows),
      "offset" => offset,
      "has_next" => next != nil,
      "next_offset" => next
    }
  end

  @doc "A row."
  @spec row(integer()) :: map()
  def row(id), do: %{"id" => id}

  @doc "The ids of rows."
  @spec ids([map()]) :: [integer()]
  def ids(rows), do: Enum.map(rows, & &1["id"])

  @doc "The values of a header in a request."
  @spec header(McpServer.ScriptedServer.request(), String.t()) :: [String.t()]
  def header(request, name), do: for({^name, value} <- request.headers, do: value)
end
