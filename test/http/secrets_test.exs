defmodule McpServer.HttpSecretsTest do
  # Data from clients must not reach a log, whatever hooks and handlers do with it. Not async: reads the whole log, whose
  # filters are global.
  use McpServer.HttpCase, async: false

  alias McpServer.{Conn, HttpRequest, HttpSecretsLog, Outline, Request}

  @secret "tok-5f2c9b7e41d8"

  defmodule Missing do
    defexception [:message]
  end

  # Raises an exception whose message contains the term.
  @doc false
  def fail(way, term, text) do
    case way do
      "match" -> {:never, _} = term
      "case" -> case term, do: (:never -> :ok)
      "with" -> with :never <- term, do: :ok, else: (:neither -> :ok)
      "try" -> tried(term)
      "function clause" -> only(term, text)
      "anonymous clause" -> (fn :never -> :ok end).(term)
      "bad map" -> Map.put(unknown([text]), :a, 1)
      "bad struct" -> %HttpRequest{} = unknown(%{text: text})
      "update" -> %{unknown([text]) | a: 1}
      "boolean" -> text and true
      "function" -> text.(1)
      "arity" -> unknown(&only/2).(text)
      "key" -> Map.fetch!(unknown(%{text => text}), :key)
      "key of a term" -> Map.fetch!(unknown(%{}), text)
      "keyword" -> Keyword.fetch!([name: text], :key)
      "protocol" -> Enum.map({text}, & &1)
      "argument" -> Date.from_iso8601!(text)
      "charlist" -> raise ArgumentError, "got: #{inspect(String.to_charlist(text))}"
      "badarg" -> String.to_integer(text)
      "unicode" -> raise ArgumentError, "got: #{inspect(<<text::binary, 255>>)}"
      "erlang" -> :erlang.error({:bad_token, text, %{text => term}})
      "throw" -> throw({:token, text, term})
      "exit" -> exit({:noproc, {GenServer, :call, [:nobody, {:verify, text, term}, 5_000]}})
      "stack" -> apply(__MODULE__, :only, [text, term])
      "list" -> Enum.reduce([text | term], &elem/2)
      "exception" -> raise Missing, "no user for #{inspect(text)}"
    end
  end

  @doc false
  def only(:never, :never), do: :ok

  # Hides the type from the compiler, which would warn of code that must fail.
  defp unknown(term), do: term

  defp tried(term) do
    term
  rescue
    ArithmeticError -> :ok
  else
    :never -> :ok
  end

  @ways ["match", "case", "with", "try", "function clause", "anonymous clause", "bad map", "bad struct", "update"] ++
          ["boolean", "function", "arity", "key", "key of a term", "keyword", "protocol", "argument", "charlist"] ++
          ["badarg", "unicode", "erlang", "throw", "exit", "stack", "list", "exception"]

  defmodule Handlers do
    alias McpServer.HttpSecretsTest

    def run(conn, %{"way" => way, "text" => text} = arguments),
      do: HttpSecretsTest.fail(way, {arguments, conn, conn.assigns}, text)

    def returns(conn, %{"text" => text}), do: {:unknown, text, %{text => conn.assigns}, String.to_charlist(text)}
    def echo(_conn, %{"text" => _text}), do: {:ok, []}
  end

  defmodule Router do
    use McpServer.Router

    tool "run", "Fails", Handlers, :run do
      input_field("way", "How", :string, required: true)
      input_field("text", "What", :string, required: true)
    end

    tool "returns", "Returns what is no result", Handlers, :returns do
      input_field("text", "What", :string, required: true)
    end

    tool "echo", "Does nothing", Handlers, :echo do
      input_field("text", "What", :string, required: true)
    end
  end

  @doc false
  def identify(request), do: hook(request, "x-identify", {:ok, "ada"})

  @doc false
  def init(request), do: hook(request, "x-init", %Conn{assigns: %{token: token(request)}})

  defp hook(request, name, otherwise) do
    case List.keyfind(request.req_headers, name, 0) do
      nil -> otherwise
      {_name, "returns"} -> {:unknown, token(request), request.req_headers, %{request: request}}
      {_name, "says"} -> raise "the token #{token(request)} of #{inspect(request.req_headers)} is bad"
      {_name, way} -> fail(way, request, token(request))
    end
  end

  defp token(request) do
    {_name, "Bearer " <> token} = List.keyfind(request.req_headers, "authorization", 0)
    token
  end

  setup do
    {:ok, logged: HttpSecretsLog.start()}
  end

  defp authorized(request, more),
    do: %{request | headers: request.headers ++ [{"authorization", "Bearer " <> @secret} | more]}

  @options [router: Router, identify: &__MODULE__.identify/1, init: &__MODULE__.init/1]

  describe "a bearer token is not logged" do
    @tag :capture_log
    both "by a hook that fails, whatever way", @options, %{server: server, logged: logged} do
      for hook <- ["x-identify", "x-init"], way <- ["says", "returns" | @ways] do
        call = authorized(modern_call("echo", %{"text" => "x"}), [{hook, way}])
        {response, _messages} = HttpClient.exchange(server, call)
        assert {hook, way, response.status} == {hook, way, 500}
      end

      failures = Enum.filter(HttpSecretsLog.said(logged), &(&1 =~ "MCP " and &1 =~ ~r/identify:|init:/))
      assert length(failures) == 2 * (length(@ways) + 2)
      assert Enum.filter(HttpSecretsLog.said(logged), &(&1 =~ @secret)) == []
    end

    @tag :capture_log
    both "by a handler that fails on its arguments or its conn", @options, %{server: server, logged: logged} do
      for way <- @ways do
        call = authorized(modern_call("run", %{"way" => way, "text" => @secret}), [])
        assert HttpClient.text(HttpClient.answer(server, call)) =~ "Tool execution failed (error id "
      end

      call = authorized(modern_call("returns", %{"text" => @secret}), [])
      assert HttpClient.text(HttpClient.answer(server, call)) =~ "Tool execution failed (error id "
      assert Enum.count(HttpSecretsLog.said(logged), &(&1 =~ "failed (error id ")) == length(@ways) + 1
      assert Enum.filter(HttpSecretsLog.said(logged), &(&1 =~ @secret)) == []
    end

    both "by a session, whose process shows nothing of it either", @options, %{server: server} do
      headers = [{"authorization", "Bearer " <> @secret}]
      session = HttpSession.open(server, "2025-11-25", headers: headers, capabilities: %{"roots" => %{}})
      assert %{"result" => _} = HttpSession.call(session, "echo", %{"text" => @secret})

      sessions = for {_, pid, _, _} <- DynamicSupervisor.which_children(McpServer.Http.SessionSupervisor), do: pid
      names = [McpServer.Http.Sessions, McpServer.Tasks.Server]
      own = if server.pid, do: [server.pid], else: []

      for process <- sessions ++ names ++ own do
        status = inspect(:sys.get_status(process), structs: false, limit: :infinity, printable_limit: :infinity)
        assert {process, status =~ @secret} == {process, false}
        assert {process, status =~ session.id} == {process, false}
      end
    end

    @tag :capture_log
    both "by the end of a session that is killed", @options, %{server: server, logged: logged} do
      headers = [{"authorization", "Bearer " <> @secret}]
      session = HttpSession.open(server, "2025-11-25", headers: headers)
      assert %{"result" => _} = HttpSession.call(session, "echo", %{"text" => @secret})
      pid = :ets.lookup_element(McpServer.Http.Sessions, session.id, 2)
      Process.exit(pid, :kill)
      eventually(fn -> Enum.any?(HttpSecretsLog.said(logged), &(&1 =~ "child_terminated" and &1 =~ inspect(pid))) end)
      assert Enum.filter(HttpSecretsLog.said(logged), &(&1 =~ @secret or &1 =~ session.id)) == []
    end
  end

  describe "printed" do
    test "a request shows its method, path and peer" do
      request =
        HttpRequest.new(%{
          method: "POST",
          target: "/mcp?token=" <> @secret,
          headers: [{"Authorization", @secret}],
          peer: {{192, 0, 2, 1}, 80}
        })

      shown = ~s(#McpServer.HttpRequest<method: "POST", request_path: "/mcp", remote_ip: {192, 0, 2, 1}, ...>)
      assert inspect(request) == shown
    end

    test "a conn shows what it is of, and the names that it assigns" do
      conn = %Conn{
        session_id: @secret,
        principal: @secret,
        private: %{@secret => @secret},
        assigns: %{user: @secret, locale: "en"},
        client_info: %{"name" => @secret},
        client_capabilities: %{"experimental" => @secret},
        state: @secret,
        input_responses: %{"a" => @secret},
        request_id: @secret,
        progress_token: @secret,
        protocol_version: "2025-11-25",
        router: Router
      }

      assert inspect(conn) ==
               "#McpServer.Conn<router: McpServer.HttpSecretsTest.Router, protocol_version: \"2025-11-25\", " <>
                 "session?: true, principal?: true, assigns: [:locale, :user]>"

      assert inspect(%Conn{}) ==
               "#McpServer.Conn<router: nil, protocol_version: nil, session?: false, principal?: false, assigns: []>"
    end

    test "a request to a handler shows its method, revision and kind" do
      request = %Request{id: @secret, method: "tools/call", revision: "2026-07-28", kind: :tool, name: @secret}
      assert inspect(request) == ~s(#McpServer.Request<method: "tools/call", revision: "2026-07-28", kind: :tool, ...>)
    end

    test "an outline has no text of any term" do
      big = Map.new(1..30, &{:"a#{&1}", @secret})
      nested = Enum.reduce(1..100, @secret, fn _level, inner -> {inner} end)

      for {term, outline} <- [
            {[@secret | @secret], "[#String<16 bytes> | #String<16 bytes>]"},
            {big, "#Map<30 keys>"},
            {nested, "{{{{{{{{...}}}}}}}}"},
            {List.duplicate({:a, @secret}, 21), inspect_items()},
            {<<1::3>>, "#Bitstring<...>"},
            {{1, 2.5, :ok, nil, []}, "{1, 2.5, :ok, nil, []}"}
          ],
          do: assert(Outline.of(term) == outline)
    end
  end

  defp inspect_items, do: "[" <> String.duplicate("{:a, #String<16 bytes>}, ", 20) <> "...]"
end
