defmodule McpServer.EveryWay do
  # One router over stdio, the library's HTTP server and the plug, in both eras. Every message is checked against the
  # schema of its revision.
  @moduledoc false

  import ExUnit.Assertions

  alias McpServer.{HttpClient, HttpRequests, HttpServers, HttpSession, JSON, StdioPeer}

  @newest HttpRequests.newest()
  @legacy "2025-11-25"
  @capabilities %{"elicitation" => %{}}

  @typedoc "The response to a request, and the questions before it. `answer` is the user's answer to each question."
  @type ask :: (method :: String.t(), params :: map(), answer :: map() | nil -> {map(), asked :: [String.t()]})
  @type way :: {name :: String.t(), ask()}

  @doc """
  The six ways to a router. They end with the test. `options` are those of both HTTP servers. `principal:` is the
  client's principal on all ways, and `legacy:` the revision of the sessions.
  """
  @spec ways(module(), String.t(), keyword()) :: [way()]
  def ways(router, tmp_dir, options \\ []) do
    {principal, options} = Keyword.pop(options, :principal)
    {legacy, options} = Keyword.pop(options, :legacy, @legacy)
    identify = if principal, do: [identify: fn _request -> {:ok, principal} end], else: []
    http = &http(&1, router, legacy, identify ++ options)
    stdio(router, tmp_dir, legacy, principal) ++ Enum.flat_map([:listener, :plug], http)
  end

  @doc "Sends a request on every way. Returns the results or errors with the names of the ways."
  @spec ask_all([way()], String.t(), map()) :: [{String.t(), map()}]
  def ask_all(ways, method, params),
    do: for({name, result, []} <- ask_all(ways, method, params, nil), do: {name, result})

  @doc "Like `ask_all/3`, for calls that ask the user. Also returns the questions."
  @spec ask_all([way()], String.t(), map(), map() | nil) :: [{String.t(), map(), [String.t()]}]
  def ask_all(ways, method, params, answer) do
    for {name, ask} <- ways do
      {message, asked} = ask.(method, params, answer)
      {name, message["result"] || message["error"], asked}
    end
  end

  @doc "The text of a tool's result."
  @spec text(map()) :: String.t()
  def text(%{"content" => [%{"text" => text}]}), do: text

  defp stdio(router, tmp_dir, legacy, principal) do
    command =
      StdioPeer.vm("McpServer.Stdio.run(#{inspect(router)}, app: :mcp_server, principal: #{inspect(principal)})")

    [peer, modern] = for _era <- 1..2, do: StdioPeer.start(command, tmp_dir: tmp_dir)
    StdioPeer.write(peer, StdioPeer.initialize("open", legacy, @capabilities))
    assert %{"id" => "open", "result" => %{"protocolVersion" => ^legacy}} = StdioPeer.read(peer, 30_000)
    initialized = HttpRequests.message("notifications/initialized", %{}, id: nil)
    StdioPeer.write(peer, JSON.encode!(initialized))

    [
      {"stdio #{legacy}", &answered(fn -> over_stdio(peer, &1, &2, &3) end)},
      {"stdio #{@newest}", &stateless(fn params -> over_stdio(modern, &1, with_meta(params), nil) end, &2, &3)}
    ]
  end

  defp over_stdio(peer, method, params, answer) do
    StdioPeer.write(peer, StdioPeer.request(System.unique_integer([:positive]), method, params))
    played(fn -> StdioPeer.read(peer) end, answer, &StdioPeer.write(peer, &1))
  end

  defp http(kind, router, legacy, options) do
    server = HttpServers.start(kind, [router: router] ++ options)
    session = HttpSession.open(server, legacy, capabilities: @capabilities)
    modern = fn method, params -> HttpRequests.modern(method, with_meta(params), capabilities: @capabilities) end

    [
      {"#{kind} #{legacy}", &answered(fn -> in_session(session, &1, &2, &3) end)},
      {"#{kind} #{@newest}", &stateless(fn params -> HttpClient.answer(server, modern.(&1, params)) end, &2, &3)}
    ]
  end

  defp in_session(session, method, params, answer) do
    {peer, response} = HttpSession.open_stream(session, HttpRequests.legacy(method, params))

    if response.body == :stream do
      reply = &({%{status: 202}, []} = HttpSession.exchange(session, HttpRequests.in_session(&1)))
      played(fn -> HttpClient.message(peer) end, answer, reply)
    else
      peer |> HttpClient.messages(response) |> List.last()
    end
  end

  # The session era: questions come before the response. Their texts are stored until it arrives.
  defp answered(fun) do
    Process.put(__MODULE__, [])
    message = fun.()
    {message, Enum.reverse(Process.delete(__MODULE__))}
  end

  defp played(read, answer, reply) do
    case read.() do
      %{"method" => "elicitation/create", "id" => id, "params" => %{"message" => text}} when answer != nil ->
        Process.put(__MODULE__, [text | Process.get(__MODULE__)])
        reply.(JSON.encode!(%{"jsonrpc" => "2.0", "id" => id, "result" => answer}))
        played(read, answer, reply)

      # A stream over HTTP sends its own notifications.
      %{"method" => "notifications/" <> _kind} ->
        played(read, answer, reply)

      message ->
        message
    end
  end

  # The stateless era: the response is the question, and the request is sent again with the answer.
  defp stateless(send, params, answer, asked \\ []) do
    case send.(params) do
      %{"result" => %{"resultType" => "input_required", "inputRequests" => inputs} = result} when answer != nil ->
        [{key, %{"params" => %{"message" => text}}}] = Map.to_list(inputs)
        brought = %{"inputResponses" => %{key => answer}, "requestState" => result["requestState"]}
        stateless(send, Map.merge(params, brought), answer, [text | asked])

      message ->
        {message, Enum.reverse(asked)}
    end
  end

  defp with_meta(params) do
    meta = HttpRequests.modern_meta(capabilities: @capabilities)
    Map.update(params, "_meta", meta, &Map.merge(meta, &1))
  end
end
