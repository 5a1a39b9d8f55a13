defmodule McpServer.EveryWay do
  # One router served over stdio, by the library's own HTTP server and by the plug, and asked in both eras. Every
  # message is held against the schema of its revision.
  @moduledoc false

  import ExUnit.Assertions

  alias McpServer.{HttpClient, HttpRequests, HttpServers, HttpSession, JSON, StdioPeer}

  @newest HttpRequests.newest()
  @legacy "2025-11-25"

  @type way :: {name :: String.t(), ask :: (String.t(), map() -> map())}

  @doc "The six ways to a router; they end with the test. `options` are those of both HTTP servers."
  @spec ways(module(), String.t(), keyword()) :: [way()]
  def ways(router, tmp_dir, options \\ []) do
    capabilities = %{"elicitation" => %{}}
    stdio(router, tmp_dir, capabilities) ++ Enum.flat_map([:listener, :plug], &http(&1, router, options, capabilities))
  end

  defp stdio(router, tmp_dir, capabilities) do
    peer = StdioPeer.start(StdioPeer.vm("McpServer.Stdio.run(#{inspect(router)}, app: :mcp_server)"), tmp_dir: tmp_dir)
    StdioPeer.write(peer, StdioPeer.initialize("open", @legacy, capabilities))
    assert %{"id" => "open", "result" => %{"protocolVersion" => @legacy}} = StdioPeer.read(peer, 30_000)
    initialized = HttpRequests.message("notifications/initialized", %{}, id: nil)
    StdioPeer.write(peer, JSON.encode!(initialized))

    [
      {"stdio #{@legacy}", &ask(peer, &1, &2)},
      {"stdio #{@newest}", &ask(peer, &1, with_meta(&2, capabilities))}
    ]
  end

  defp ask(peer, method, params) do
    id = System.unique_integer([:positive])
    StdioPeer.write(peer, StdioPeer.request(id, method, params))
    assert %{"id" => ^id} = answer = StdioPeer.read(peer)
    answer
  end

  defp http(kind, router, options, capabilities) do
    server = HttpServers.start(kind, [router: router] ++ options)
    session = HttpSession.open(server, @legacy, capabilities: capabilities)

    [
      {"#{kind} #{@legacy}", &HttpSession.answer(session, HttpRequests.legacy(&1, &2))},
      {"#{kind} #{@newest}",
       &HttpClient.answer(server, HttpRequests.modern(&1, with_meta(&2, capabilities), capabilities: capabilities))}
    ]
  end

  defp with_meta(params, capabilities) do
    meta = HttpRequests.modern_meta(capabilities: capabilities)
    Map.update(params, "_meta", meta, &Map.merge(meta, &1))
  end

  @doc "Asks on every way, and returns the results or errors with the names of the ways."
  @spec ask_all([way()], String.t(), map()) :: [{String.t(), map()}]
  def ask_all(ways, method, params) do
    for {name, ask} <- ways do
      answer = ask.(method, params)
      {name, answer["result"] || answer["error"]}
    end
  end

  @doc "What a client reads of a tool's result."
  @spec text(map()) :: String.t()
  def text(%{"content" => [%{"text" => text}]}), do: text
end
