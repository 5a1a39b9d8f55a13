defmodule McpServer.DualResponse.Response do
  @moduledoc """
  A created dual response: a few rows for the model, and a link to all of them for the host.

  A tool's handler returns `{:ok, response}`. The model reads the number of results, the rows of the sample as JSON, one
  per line and at most 16 KiB, and the link. The host's program gets `to_structured_content/1`.

  | field | meaning |
  |---|---|
  | `resource_id` | the id |
  | `resource_uri` | `"resource://" <> id`, or the result of the server's `uri_scheme:` or `uri_builder:` |
  | `resource_url` | the URL at the REST endpoint |
  | `name` | the name of the result |
  | `sample` | the first rows |
  | `total_count` | number of all rows |
  | `columns` | the columns, as given |
  | `expires_at` | `DateTime`, or `nil` if it does not expire |
  | `created_at` | `DateTime` |
  """

  @enforce_keys [:resource_id, :resource_uri, :resource_url, :name, :sample, :total_count, :columns, :created_at]
  defstruct [
    :resource_id,
    :resource_uri,
    :resource_url,
    :name,
    :sample,
    :total_count,
    :columns,
    :expires_at,
    :created_at
  ]

  @type t :: %__MODULE__{
          resource_id: String.t(),
          resource_uri: String.t(),
          resource_url: String.t(),
          name: String.t(),
          sample: [map],
          total_count: non_neg_integer,
          columns: [map],
          expires_at: DateTime.t() | nil,
          created_at: DateTime.t()
        }

  alias McpServer.Content.ResourceLink
  alias McpServer.Content.Text
  alias McpServer.DualResponse.{Location, Options, Resource}

  @mime_type "application/json"

  @doc false
  @spec new(Options.t(), Resource.t()) :: t
  def new(options, %Resource{} = resource) do
    %__MODULE__{
      resource_id: resource.id,
      resource_uri: Location.uri(options, resource.id),
      resource_url: Location.url(options, resource),
      name: resource.name,
      sample: resource.sample_data,
      total_count: resource.total_count,
      columns: resource.columns,
      expires_at: resource.expires_at,
      created_at: resource.created_at
    }
  end

  @doc "The content for the model: the number of results, and the link."
  @spec to_mcp_content(t) :: [Text.t() | ResourceLink.t()]
  def to_mcp_content(%__MODULE__{} = response) do
    text = "Found #{response.total_count} results. Sample data and full dataset link included."
    [%Text{text: text}, link(response)]
  end

  @doc false
  @spec link(t) :: ResourceLink.t()
  def link(%__MODULE__{} = response),
    do: %ResourceLink{uri: response.resource_uri, name: response.name, mimeType: @mime_type}

  @doc """
  The data for the host's program: the sample, the URI of all rows, and the columns. Rows, columns and their keys are
  unchanged.
  """
  @spec to_structured_content(t) :: %{String.t() => term}
  def to_structured_content(%__MODULE__{} = response) do
    %{
      "results" => response.sample,
      "resource" => %{
        "uri" => response.resource_uri,
        "url" => response.resource_url,
        "name" => response.name,
        "mimeType" => @mime_type
      },
      "metadata" => %{
        "total_count" => response.total_count,
        "columns" => response.columns,
        "executed_at" => timestamp(response.created_at),
        "expires_at" => timestamp(response.expires_at)
      }
    }
  end

  @doc "Both, as the result of a tool. A handler may return `{:ok, result}`, or the response."
  @spec to_mcp_tool_result(t) :: %{String.t() => term}
  def to_mcp_tool_result(%__MODULE__{} = response),
    do: %{"content" => to_mcp_content(response), "structuredContent" => to_structured_content(response)}

  @doc false
  @spec timestamp(DateTime.t() | nil) :: String.t() | nil
  def timestamp(nil), do: nil
  def timestamp(time), do: time |> DateTime.truncate(:second) |> DateTime.to_iso8601()
end

defimpl McpServer.Tool.Result, for: McpServer.DualResponse.Response do
  alias McpServer.Content.Text
  alias McpServer.DualResponse.{Excerpt, Response}
  alias McpServer.Tool.CallResult

  # The maximum size of the sample as text. Some hosts hide structured content, so their models read only text.
  @sample_bytes 16 * 1024

  def to_call_result(response, _conn) do
    [%Text{text: sentence}, link] = Response.to_mcp_content(response)
    shown = Excerpt.fitting(response.sample, @sample_bytes)
    content = [%Text{text: Excerpt.text(sentence, shown)}, link]
    {:ok, %CallResult{content: content, structured_content: Response.to_structured_content(response)}}
  end
end
