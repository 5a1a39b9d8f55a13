defmodule McpServer.HttpRequests do
  # Requests of a correct client of each era. They are values, so a test can break them.
  @moduledoc false

  alias McpServer.{HttpPeer, JSON}

  @newest "2026-07-28"
  @both "application/json, text/event-stream"
  @info %{"name" => "peer", "version" => "1"}

  @doc "The newest revision. Its requests need no session."
  def newest, do: @newest

  @doc "All revisions, the newest first."
  def revisions, do: [@newest, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]

  @doc "The client's description of itself."
  def info, do: @info

  @doc "A POST with any body. A header with the value `nil` is left out."
  @spec post(iodata(), [{String.t(), iodata() | nil}]) :: HttpPeer.request()
  def post(body, headers \\ []),
    do: request("POST", with_headers([{"content-type", "application/json"}, {"accept", @both}], headers), body)

  @doc "Any request."
  @spec request(String.t(), [{String.t(), iodata()}], iodata() | nil) :: HttpPeer.request()
  def request(method, headers \\ [], body \\ nil), do: %{method: method, target: "/mcp", headers: headers, body: body}

  @doc "A request of 2026-07-28 with all headers and the complete `_meta`; `:id`, `:headers`, `:meta`, `:capabilities`."
  @spec modern(String.t(), map(), keyword()) :: HttpPeer.request()
  def modern(method, params \\ %{}, options \\ []) do
    headers =
      [{"mcp-protocol-version", @newest}, {"mcp-method", method}] ++
        for {key, of} <- [
              {"name", ~w(tools/call prompts/get)},
              {"uri", ~w(resources/read)},
              {"taskId", ~w(tasks/get tasks/update tasks/cancel)}
            ],
            method in of,
            value = params[key],
            do: {"mcp-name", value}

    message = message(method, Map.put_new(params, "_meta", modern_meta(options)), options)
    post(JSON.encode!(message), instead(headers, options[:headers] || []))
  end

  @doc "The `_meta` of a request of 2026-07-28."
  def modern_meta(options \\ []) do
    Map.merge(
      %{
        "io.modelcontextprotocol/protocolVersion" => @newest,
        "io.modelcontextprotocol/clientCapabilities" => options[:capabilities] || %{},
        "io.modelcontextprotocol/clientInfo" => @info
      },
      options[:meta] || %{}
    )
  end

  @doc "A tool call of 2026-07-28."
  def modern_call(name, arguments \\ %{}, options \\ []),
    do: modern("tools/call", %{"name" => name, "arguments" => arguments}, options)

  @doc "A request inside a session. `:session` is replaced by its id when the session is known."
  @spec legacy(String.t(), map(), keyword()) :: HttpPeer.request()
  def legacy(method, params \\ %{}, options \\ []),
    do: in_session(JSON.encode!(message(method, params, options)), options[:headers] || [])

  @doc "Any body inside a session."
  def in_session(body, headers \\ []), do: post(body, instead([{"mcp-session-id", :session}], headers))

  @doc "A tool call inside a session."
  def legacy_call(name, arguments \\ %{}, options \\ []),
    do: legacy("tools/call", %{"name" => name, "arguments" => arguments}, options)

  @doc "The request that opens a session."
  def initialize(revision \\ "2025-11-25", options \\ []) do
    params = %{
      "protocolVersion" => revision,
      "capabilities" => options[:capabilities] || %{},
      "clientInfo" => options[:info] || @info
    }

    post(JSON.encode!(message("initialize", params, options)), options[:headers] || [])
  end

  @doc "The request for a session's stream. With `last`, for all events after that one."
  def get_stream(headers \\ []),
    do: request("GET", with_headers([{"accept", "text/event-stream"}, {"mcp-session-id", :session}], headers))

  @doc "The request that ends a session."
  def delete(headers \\ []), do: request("DELETE", with_headers([{"mcp-session-id", :session}], headers))

  @doc "A JSON-RPC request. With `id: nil` it is a notification."
  def message(method, params, options \\ []) do
    message = %{"jsonrpc" => "2.0", "method" => method, "params" => params}
    id = Keyword.get(options, :id, 1)
    if id == nil, do: message, else: Map.put(message, "id", id)
  end

  @doc "The request with these headers, which replace those of the same name. `nil` removes one."
  def with_headers(%{headers: own} = request, headers), do: %{request | headers: with_headers(own, headers)}

  def with_headers(own, headers), do: own |> instead(headers) |> Enum.reject(fn {_name, value} -> value == nil end)

  defp instead(own, headers) do
    named = for {name, _value} <- headers, do: String.downcase(name)
    Enum.reject(own, fn {name, _value} -> String.downcase(name) in named end) ++ headers
  end

  @doc "The request with a session's id in place of `:session`."
  def of_session(request, id) do
    headers = for {name, value} <- request.headers, do: {name, if(value == :session, do: id, else: value)}
    %{request | headers: headers}
  end

  @doc "The request of this principal."
  def as(request, principal), do: with_headers(request, [{"authorization", "Bearer #{principal}"}])

  @doc "The function of `identify:` that knows who sends a request of `as/2`."
  def who(request) do
    case List.keyfind(request.req_headers, "authorization", 0) do
      {_name, "Bearer " <> name} -> {:ok, name}
      _nobody -> {:error, :unauthorized}
    end
  end
end
