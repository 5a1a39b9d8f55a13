defmodule McpServer.DualResponse.Client.ToolResult do
  @moduledoc false
  # Finds the dual response in a tool's result. The result comes from another program, so an invalid value is no dual
  # response, and never raises.

  alias McpServer.DualResponse.{Client, Response}
  alias McpServer.DualResponse.Client.{Parsed, Reference, Time}
  alias McpServer.Tool.CallResult

  @doc "The structured content of a successful result: decoded JSON, or a value of this library."
  @spec structured(term()) :: map() | nil
  def structured(%Response{} = response), do: Response.to_structured_content(response)
  def structured(%CallResult{is_error: true}), do: nil
  def structured(%CallResult{structured_content: content}), do: content
  def structured(%{"isError" => true}), do: nil
  def structured(%{"structuredContent" => content}), do: content
  def structured(_other), do: nil

  @doc "The parsed structured content. `nil` if it is not that of a dual response."
  @spec read(Client.t(), term()) :: Parsed.t() | nil
  def read(client, %{"results" => sample, "resource" => %{"uri" => uri} = resource, "metadata" => metadata})
      when is_map(metadata) do
    with true <- maps?(sample),
         true <- Reference.uri?(uri),
         {:ok, url} <- optional(Map.get(resource, "url")),
         {:ok, name} <- optional(Map.get(resource, "name")),
         %{"total_count" => total, "columns" => columns} when is_integer(total) and total >= 0 <- metadata,
         true <- maps?(columns),
         {:ok, expires_at} <- Time.read(Map.get(metadata, "expires_at")),
         {:ok, executed_at} <- Time.read(Map.get(metadata, "executed_at")) do
      %Parsed{
        client: client,
        name: name,
        sample: sample,
        total_count: total,
        resource_uri: uri,
        resource_url: Reference.url(client.base_url, uri, url),
        columns: columns,
        expires_at: expires_at,
        executed_at: executed_at
      }
    else
      _another_shape -> nil
    end
  end

  def read(_client, _other), do: nil

  defp maps?(list), do: is_list(list) and not List.improper?(list) and Enum.all?(list, &is_map/1)

  defp optional(text) when is_binary(text) or text == nil, do: {:ok, text}
  defp optional(_other), do: :error
end
