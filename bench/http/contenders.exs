defmodule Bench.Http.Contenders do
  @moduledoc """
  The servers that are compared, each started in the way its SDK serves best.

  `listener` is the library's own server with schedulers that do not spin while they wait, so that its processor time counts
  work alone. `listener, bound` also binds them to cores (`+stbt db`). `listener, default` has Erlang's default flags: its
  schedulers spin, so its processor time says nothing. `plug` is the library under Bandit, where Bandit is on the code path
  (`ERL_LIBS`). The others are the yardsticks of `bench/yardsticks`: all of them stateless, and answering in JSON, which
  their SDKs offer for older revisions too. Ours wants the session that those revisions have.
  """

  alias Bench.Http.{Client, Request, Server}

  @root Path.expand("../..", __DIR__)
  @tools "_build/yardsticks/tools.json"

  @type t :: {name :: String.t(), command :: [String.t()]}

  @doc "Builds the yardsticks. An error is told in a sentence that says what is missing."
  @spec build() :: {:ok, [t()]} | {:error, String.t()}
  def build do
    # What cargo and npm have to say goes to stderr and is shown as it comes.
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

  @doc "The plug, and one that does nothing, both under Bandit; none where Bandit is not on the code path."
  @spec plugs() :: [t()]
  def plugs do
    if Code.ensure_loaded?(Bandit),
      do: for({name, kind} <- [{"plug", "plug"}, {"bare plug", "bare_plug"}], do: {name, serve(kind, quiet())}),
      else: []
  end

  @doc "The library's own server, without and with TLS."
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

  @doc "Opens sessions on a server that wants them."
  @spec open_sessions(Server.t(), pos_integer()) :: Server.t()
  def open_sessions(server, count) do
    if ours?(server.name), do: %{server | sessions: for(_i <- 1..count, do: open_session(server))}, else: server
  end

  defp open_session(server) do
    %{status: 200, headers: %{"mcp-session-id" => id}} = Client.post(server.port, Request.initialize())
    %{status: 202} = Client.post(server.port, Request.initialized(), id)
    id
  end

  @doc "The sessions wrk uses for a request: none, unless the server and the request's revision have them."
  @spec sessions(Server.t(), Request.t()) :: [String.t()]
  def sessions(server, %Request{era: :session} = request) do
    if request.body =~ "tools/call", do: server.sessions, else: []
  end

  def sessions(_server, _request), do: []

  @doc "Speed says nothing before the answers agree: raises unless the server gives the answer of the request."
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

  # What one revision requires and another has not, and what says nothing by being there.
  defp plain(result) do
    result = Map.drop(result, ~w(_meta resultType ttlMs cacheScope))
    if result["isError"] == false, do: Map.delete(result, "isError"), else: result
  end
end
