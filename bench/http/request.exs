defmodule Bench.Http.Request do
  @moduledoc """
  The requests, with the same bytes for each server, and the expected answers.

  `:era` is `:session` for a request of revision 2025-11-25. A server that requires a session gets one.
  """

  alias Bench.Workloads
  alias McpServer.JSON

  @enforce_keys [:name, :era, :headers, :body, :answer]
  defstruct [:name, :era, :headers, :body, :answer]

  @type t :: %__MODULE__{
          name: String.t(),
          era: :session | :stateless,
          headers: [{String.t(), String.t()}],
          body: String.t(),
          answer: map()
        }

  @text "How many requests a second does it take to change a light bulb?"
  @client %{name: "bench", version: "1.0.0"}
  @accept [{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}]

  @doc "The JSON of every server's tools: `echo` first, then 99 tools that are only listed."
  @spec tools() :: [map()]
  def tools do
    %{"tools" => [_one | listed]} = JSON.decode!(JSON.encode!(Workloads.tools()))
    [echo_tool() | listed]
  end

  @doc "The called tool."
  @spec echo_tool() :: map()
  def echo_tool do
    properties = %{"text" => %{"type" => "string", "description" => "What to answer"}}
    schema = %{"type" => "object", "properties" => properties, "required" => ["text"]}
    %{"name" => "echo", "description" => "Answers what it is given", "inputSchema" => schema}
  end

  @doc "A call of the tool `echo`."
  @spec echo(:session | :stateless) :: t()
  def echo(era) do
    answer = %{"content" => [%{"type" => "text", "text" => @text}]}
    request(era, "tools/call, #{revision(era)}", "tools/call", %{name: "echo", arguments: %{text: @text}}, answer)
  end

  @doc "`ping`, which needs no session; the newest revision does not have it."
  @spec ping() :: t()
  def ping, do: request(:session, "ping, #{revision(:session)}", "ping", %{}, %{})

  @doc "`tools/list`, answered with 71 KB."
  @spec list() :: t()
  def list do
    request(:stateless, "tools/list, #{revision(:stateless)}", "tools/list", %{}, %{"tools" => tools()})
  end

  @doc "A stream of notifications that stays open, because no list changes."
  @spec listen() :: t()
  def listen do
    params = %{notifications: %{toolsListChanged: true}}
    request(:stateless, "subscriptions/listen, #{revision(:stateless)}", "subscriptions/listen", params, %{})
  end

  @doc "The request that opens a session."
  @spec initialize() :: t()
  def initialize do
    params = %{protocolVersion: revision(:session), capabilities: %{}, clientInfo: @client}
    request(:session, "initialize", "initialize", params, %{})
  end

  @doc "The notification that the session is open."
  @spec initialized() :: t()
  def initialized do
    body = JSON.encode!(%{jsonrpc: "2.0", method: "notifications/initialized"})
    %{initialize() | name: "notifications/initialized", body: body}
  end

  defp request(era, name, method, params, answer) do
    %__MODULE__{
      name: name,
      era: era,
      headers: headers(era, method, params),
      body: body(era, method, params),
      answer: answer
    }
  end

  defp body(:session, method, params) when params == %{}, do: JSON.encode!(%{jsonrpc: "2.0", id: 1, method: method})
  defp body(:session, method, params), do: JSON.encode!(%{jsonrpc: "2.0", id: 1, method: method, params: params})

  defp body(:stateless, method, params) do
    meta = %{
      "io.modelcontextprotocol/protocolVersion" => revision(:stateless),
      "io.modelcontextprotocol/clientCapabilities" => %{},
      "io.modelcontextprotocol/clientInfo" => @client
    }

    JSON.encode!(%{jsonrpc: "2.0", id: 1, method: method, params: Map.put(params, :_meta, meta)})
  end

  defp headers(:session, _method, _params), do: [{"MCP-Protocol-Version", revision(:session)} | @accept]

  defp headers(:stateless, method, params) do
    name = if params[:name], do: [{"Mcp-Name", params.name}], else: []
    [{"MCP-Protocol-Version", revision(:stateless)}, {"Mcp-Method", method}] ++ name ++ @accept
  end

  defp revision(:session), do: "2025-11-25"
  defp revision(:stateless), do: "2026-07-28"
end
