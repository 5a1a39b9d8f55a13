defmodule McpServer.OptionsTest do
  # Errors of unknown or invalid options.
  use ExUnit.Case, async: true

  alias McpServer.{DualResponse, HttpPlug, HttpServer, LimitsRouter, Options, ServerOptions, Stdio}

  doctest McpServer.Options
  doctest McpServer.ServerOptions

  defp refused(fun), do: assert_raise(ArgumentError, fun).message

  describe "an unknown option" do
    test "is answered with the nearest name and all that there are" do
      message = refused(fn -> Stdio.start_link(router: LimitsRouter, tiemout: 5) end)
      options = "router, assigns, timeout, principal, drain, on_eof, limits"
      assert message == "McpServer.Stdio has no option :tiemout, did you mean timeout? Its options are: #{options}"
    end

    test "of a group as well" do
      message = refused(fn -> Stdio.start_link(router: LimitsRouter, limits: [max_dept: 5]) end)

      assert message =~
               ~r/\Alimits: of McpServer.Stdio has no option :max_dept, did you mean max_depth\? Its options are: max_message_bytes, /
    end

    test "that belongs in a group is answered with how it is written" do
      message = refused(fn -> HttpServer.start_link(router: LimitsRouter, max_depth: 5) end)

      assert message =~
               "McpServer.HttpServer has no option :max_depth. Write limits: [max_depth: …]. Its options are: path, "

      message = refused(fn -> HttpPlug.init(router: LimitsRouter, max_calls: 5) end)
      assert message =~ " Write limits: [max_calls: …] or http: [max_calls: …]. "
    end

    for {door, option, written} <- [
          {:http_server, :authorize, "identify: …"},
          {:http_server, :grace, "drain: …"},
          {:http_server, :max_body_bytes, "limits: [max_message_bytes: …]"},
          {:http_server, :max_requests, "http: [max_calls: …]"},
          {:http_server, :max_listeners, "http: [max_streams: …]"},
          {:http_server, :max_heap_words, "limits: [max_heap_bytes: …]"},
          {:stdio, :max_line_bytes, "limits: [max_message_bytes: …]"},
          {:stdio, :grace, "drain: …"}
        ] do
      test "#{door}: #{option} is answered with the name of what is meant" do
        message = Options.unknown("McpServer", ServerOptions.unquote(door)(), unquote(option))

        assert message =~
                 "McpServer has no option #{inspect(unquote(option))}. Write #{unquote(written)}. Its options are: "
      end
    end

    test "of tasks is one of the configuration" do
      message =
        refused(fn -> Options.check!("config :mcp_server, :tasks", McpServer.Tasks.Server.table(), max_task: 1) end)

      assert message =~ "config :mcp_server, :tasks has no option :max_task, did you mean max_tasks? "
    end
  end

  test "a group given twice is merged, and of two values the first counts" do
    table = [limits: [{:group, [a: [:count, default: 1], b: [:count, default: 2]]}], c: [:any]]

    assert Options.check!("X", table, limits: [a: 3], c: 1, limits: [a: 4, b: 5], c: 2) == %{
             limits: %{a: 3, b: 5},
             c: 1
           }
  end

  test "a group that is no list is refused" do
    assert refused(fn -> HttpPlug.init(router: LimitsRouter, limits: 5) end) ==
             "the options of limits: of McpServer.HttpPlug are a keyword list"
  end

  test "no message shows a secret" do
    for fun <- [
          fn -> HttpServer.start_link(router: LimitsRouter, tls: "secret") end,
          fn -> DualResponse.start_link(base_url: "https://a.example", signed_urls: "secret") end,
          fn -> HttpServer.start_link("secret") end
        ],
        do: refute(refused(fun) =~ "secret\"")
  end

  test "the documentation of each transport lists its options, and those of its groups" do
    for {module, table} <- [
          {Stdio, ServerOptions.stdio()},
          {HttpServer, ServerOptions.http_server()},
          {HttpPlug, ServerOptions.http_plug()}
        ] do
      {:docs_v1, _line, :elixir, _format, %{"en" => text}, _metadata, _docs} = Code.fetch_docs(module)
      assert text =~ Options.document(table)
    end

    assert Options.document(ServerOptions.stdio()) =~
             "| `:timeout` | 60_000 | how long a call may run; a tool's `timeout:` takes precedence |"

    assert Options.document(ServerOptions.stdio()) =~
             "\n`limits:` holds the limits of messages and calls:\n\n| option | default | meaning |"
  end
end
