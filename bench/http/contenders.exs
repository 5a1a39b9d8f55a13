defmodule Bench.Http.Contenders do
  @moduledoc """
  The compared servers, each with the fastest configuration of its SDK.

  `listener` is the library's server with schedulers that do not spin while they wait, so that its processor time counts
  only work. `listener, bound` also binds schedulers to cores (`+stbt db`). `listener, default` has Erlang's default
  flags: its schedulers spin, so its processor time is meaningless. `plug` is the library under Bandit, if Bandit is on
  the code path (`ERL_LIBS`). The others are the yardsticks of `bench/yardsticks`, stateless servers that answer in
  JSON. Their SDKs offer this for older revisions too; our servers require the session of those revisions.
  """

  alias Bench.Http.{Client, Request, Server}

  @root Path.expand("../..", __DIR__)
  @tools "_build/yardsticks/tools.json"

  @type t :: {name :: String.t(), command :: [String.t()]}

  @doc "Builds the yardsticks. An error is a sentence that names the missing part."
  @spec build() :: {:ok, [t()]} | {:error, String.t()}
  def build do
    # The output of cargo and npm goes to stderr and is shown at once.
    case System.cmd(Path.join(@root, "bench/yardsticks/build"), ["http"], cd: @root) do
      {output, 0} -> {:ok, ours() ++ yardsticks(String.split(output, "\n", trim: true))}
      {_output, _status} -> {:error, "the yardsticks could not be built, see above"}
    end
  end

  defp ours do
    kinds = [
      {"listener", "listener", quiet()},
      {"listener, bound", "listener", quiet() <> " +stbt db"},
      {"listener, default", "listener", ""}
    ]

    kinds = if Code.ensure_loaded?(Bandit), do: kinds ++ [{"plug", "plug", quiet()}], else: kinds
    for {name, kind, flags} <- kinds, do: {name, serve(kind, flags)}
  end

  @doc "The plug and an empty plug, both under Bandit; none if Bandit is not on the code path."
  @spec plugs() :: [t()]
  def plugs do
    if Code.ensure_loaded?(Bandit),
      do: for({name, kind} <- [{"plug", "plug"}, {"bare plug", "bare_plug"}], do: {name, serve(kind, quiet())}),
      else: []
  end

  @doc "The library's server, without and with TLS."
  @spec encrypted() :: [t()]
  def encrypted, do: for({name, kind} <- [{"plain", "listener"}, {"TLS", "tls"}], do: {name, serve(kind, quiet())})

  defp quiet, do: System.get_env("ELIXIR_ERL_OPTIONS", "")

  defp serve(kind, flags) do
    [env, mix] = Enum.map(["env", "mix"], &System.find_executable/1)
    [env, "ELIXIR_ERL_OPTIONS=#{flags}", mix, "run", "--no-compile", "bench/http/serve.exs", kind]
  end

  defp yardsticks([node, rmcp, python]) do
    tools = Path.join(@root, @tools)
    File.write!(tools, McpServer.JSON.encode!(Request.tools()))

    [
      {"rmcp", [rmcp, tools]},
      {"typescript", [node, "bench/yardsticks/typescript/server.mjs", tools]},
      {"python", [python, "bench/yardsticks/python/server.py", tools]}
    ]
  end

  @doc "Whether a contender is this library."
  @spec ours?(String.t()) :: boolean()
  def ours?(name), do: name in ["listener", "listener, bound", "listener, default", "plug"]

  @doc "Opens sessions on a server that requires them."
  @spec open_sessions(Server.t(), pos_integer()) :: Server.t()
  def open_sessions(server, count) do
    if ours?(server.name), do: %{server | sessions: for(_i <- 1..count, do: open_session(server))}, else: server
  end

  defp open_session(server) do
    %{status: 200, headers: %{"mcp-session-id" => id}} = Client.post(server.port, Request.initialize())
    %{status: 202} = Client.post(server.port, Request.initialized(), id)
    id
  end

  @doc "The sessions that wrk uses for a request: none, unless the server and the request's revision have sessions."
  @spec sessions(Server.t(), Request.t()) :: [String.t()]
  def sessions(server, %Request{era: :session} = request) do
    if request.body =~ "tools/call", do: server.sessions, else: []
  end

  def sessions(_server, _request), do: []

  @doc "Raises unless the server's answer is correct, because only equal answers can be compared."
  @spec check!(Server.t(), Request.t()) :: :ok
  def check!(server, request) do
    response = Client.post(server.port, request, List.first(sessions(server, request)))

    with %{status: 200, headers: %{"content-type" => "application/json" <> _}, body: body} <- response,
         %{"id" => 1, "result" => result} <- McpServer.JSON.decode!(body),
         true <- plain(result) == request.answer do
      :ok
    else
      _other -> raise "#{server.name} does not give the expected answer to #{request.name}: #{inspect(response)}"
    end
  end

  # Drops the members that only some revisions have, and members without meaning.
  defp plain(result) do
    result = Map.drop(result, ~w(_meta resultType ttlMs cacheScope))
    if result["isError"] == false, do: Map.delete(result, "isError"), else: result
  end
end
