for kind <- McpServer.LimitsPeers.kinds() do
  defmodule Module.concat(McpServer, "Limits#{kind}Test") do
    # Messages just within and just beyond each limit, through each transport. Limits far below the defaults show that
    # the server's options apply.
    use ExUnit.Case, async: true

    import McpServer.LimitsPeers, only: [ask: 3, call: 1, call: 2, request: 2]

    alias McpServer.{JSON, LimitsPeers}

    @kind kind
    @moduletag :tmp_dir
    @moduletag :capture_log

    @small [
      longest: 4_096,
      limits: [
        max_depth: 10,
        max_values: 60,
        max_digits: 20,
        max_id_bytes: 8,
        max_method_bytes: 24,
        max_name_bytes: 6,
        max_uri_bytes: 24,
        max_meta_bytes: 240
      ]
    ]

    setup context, do: {:ok, server: LimitsPeers.start(@kind, context, @small)}

    defp head(text) do
      case Regex.run(~r/"method":"([^"]*)"/, text) do
        ["" <> _all, method] -> {method, name(text)}
        nil -> {"x", nil}
      end
    end

    defp name(text), do: with([_all, name] <- Regex.run(~r/"(?:name|uri)":"([^"]*)"/, text), do: name)

    defp fine(server, text) do
      {status, answer} = ask(server, text, head(text))
      assert {status, text} in [{200, text}, {nil, text}]
      answer = JSON.decode!(answer)
      assert %{"result" => _result} = answer
      answer
    end

    # Code, message or reason; over HTTP also the status.
    defp refused(server, text, status \\ 400) do
      {got, answer} = ask(server, text, head(text))
      assert got in [nil, status]
      %{"error" => error} = answer = JSON.decode!(answer)
      {error["code"], get_in(error, ["data", "reason"]) || error["message"], answer["id"]}
    end

    @tag req: "M2"
    test "#{kind}: depth", %{server: server} do
      nested = fn levels -> ~s({"v":#{String.duplicate("[", levels)}#{String.duplicate("]", levels)}}) end
      assert %{"result" => %{"structuredContent" => %{"v" => [[[[[[[]]]]]]]}}} = fine(server, call(nested.(7)))
      assert refused(server, call(nested.(8))) == {-32_700, "too_deep", 1}
    end

    test "#{kind}: values", %{server: server} do
      # The message has eleven values without the items.
      items = fn count -> ~s({"v":[#{Enum.join(1..count, ",")}]}) end
      assert fine(server, call(items.(49)))["result"]["structuredContent"]["v"] == Enum.to_list(1..49)
      assert refused(server, call(items.(50))) == {-32_700, "too_many_values", 1}
    end

    test "#{kind}: digits", %{server: server} do
      assert fine(server, call(~s({"v":12345678901234567890})))["result"]["structuredContent"]["v"] ==
               12_345_678_901_234_567_890

      assert refused(server, call(~s({"v":123456789012345678901}))) == {-32_700, "too_many_digits", 1}
      assert refused(server, call(~s({"v":0.12345678901234567890}))) == {-32_700, "too_many_digits", 1}
    end

    @tag req: "M6"
    test "#{kind}: ids", %{server: server} do
      assert fine(server, call("{}", id: ~s("12345678")))["id"] == "12345678"
      message = "Invalid request: id must be an integer of at most 64 bits or a string of at most 8 bytes"
      assert refused(server, call("{}", id: ~s("123456789"))) == {-32_600, message, nil}
      # The limit counts bytes instead of characters, of the decoded string.
      assert refused(server, call("{}", id: ~s("ééééx"))) == {-32_600, message, nil}
      assert fine(server, call("{}", id: ~s("\\u0061bcdefgh")))["id"] == "abcdefgh"

      for id <- [18_446_744_073_709_551_615, -9_223_372_036_854_775_808],
          do: assert(fine(server, call("{}", id: id))["id"] == id)
    end

    @tag req: "M6"
    test "#{kind}: an id beyond 64 bits is refused, and never rounded", %{server: server} do
      message = "Invalid request: id must be an integer of at most 64 bits or a string of at most 8 bytes"

      for id <- ["18446744073709551616", "-9223372036854775809", "1.0", "1e0", "-0.0"],
          do: assert({id, refused(server, call("{}", id: id))} == {id, {-32_600, message, nil}})
    end

    test "#{kind}: progress tokens", %{server: server} do
      assert fine(server, call("{}", meta: ~s("progressToken":"12345678")))
      message = "Invalid params: _meta.progressToken is longer than 8 bytes"
      assert refused(server, call("{}", meta: ~s("progressToken":"123456789"))) == {-32_602, message, 1}
    end

    test "#{kind}: _meta, however it is filled", %{server: server} do
      of = fn bytes, member ->
        [_all, meta] = Regex.run(~r/"_meta":(.*)}}$/, call("{}", meta: ~s(#{member}:"")))
        call("{}", meta: ~s(#{member}:"#{String.duplicate("x", bytes - byte_size(meta))}"))
      end

      for member <- [~s("x"), ~s("io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"x")] do
        assert fine(server, of.(240, member))
        assert refused(server, of.(241, member)) == {-32_602, "Invalid params: _meta is longer than 240 bytes", 1}
      end
    end

    test "#{kind}: methods", %{server: server} do
      method = String.duplicate("m", 24)
      assert refused(server, request(method, ~s("a":1)), 404) == {-32_601, "Method not found", 1}
      message = "Invalid request: method must have at most 24 bytes"
      assert refused(server, request(method <> "m", ~s("a":1))) == {-32_600, message, 1}
    end

    @tag req: "M15"
    test "#{kind}: names", %{server: server} do
      called = &request("tools/call", ~s("name":"#{&1}"))
      assert refused(server, called.("nobody"), 200) == {-32_602, "Tool 'nobody' not found", 1}
      assert refused(server, called.("nobodys")) == {-32_602, "Invalid params: name is longer than 6 bytes", 1}
    end

    test "#{kind}: URIs", %{server: server} do
      read = &request("resources/read", ~s("uri":"x://#{String.duplicate("i", &1 - 4)}"))
      assert [%{"text" => text}] = fine(server, read.(24))["result"]["contents"]
      assert byte_size(text) == 20
      assert refused(server, read.(25)) == {-32_602, "Invalid params: uri is longer than 24 bytes", 1}
    end

    test "#{kind}: bytes", %{server: server} do
      of = fn bytes ->
        room = bytes - byte_size(call(~s({"v":""})))
        call(~s({"v":"#{String.duplicate("x", room)}"}))
      end

      assert byte_size(of.(4_096)) == 4_096
      fine(server, of.(4_096))
      {code, _message, nil} = refused(server, of.(4_097), 413)
      assert code == if(@kind == :stdio, do: -32_700, else: -32_600)
      # The connection stays usable.
      fine(server, of.(4_096))
    end

    @tag req: "M13"
    test "#{kind}: a key twice, anywhere and by escape", %{server: server} do
      message = "Invalid request: an object has two members of the same name"

      for arguments <- [
            ~s({"a":1,"a":1}),
            ~s({"a":1,"\\u0061":2}),
            ~s({"x":[[{"y":{"\\u006b":1,"k":2}}]]}),
            ~s({"x":{"":1,"":2}})
          ] do
        assert {arguments, refused(server, call(arguments))} == {arguments, {-32_600, message, 1}}
      end

      assert refused(server, call("{}", meta: ~s("a":1,"a":2))) == {-32_600, message, 1}
      assert refused(server, ~s({"jsonrpc":"2.0","id":1,"method":"ping","\\u006dethod":"x"})) == {-32_600, message, 1}
      assert refused(server, ~s({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})) == {-32_600, message, nil}
      assert fine(server, call(~s({"a":1,"A":2,"b":{"a":3}})))
    end
  end

  defmodule Module.concat(McpServer, "Numbers#{kind}Test") do
    # Numbers pass through a tool and back, digit for digit.
    use ExUnit.Case, async: true

    import McpServer.LimitsPeers, only: [ask: 3, call: 1, request: 2]

    alias McpServer.{JSON, LimitsPeers}

    @kind kind
    @moduletag :tmp_dir
    @moduletag :capture_log

    setup context, do: {:ok, server: LimitsPeers.start(@kind, context)}

    defp back(server, number) do
      {_status, answer} = ask(server, call(~s({"v":#{number}})), {"tools/call", "back"})

      case Regex.run(~r/"structuredContent":\{"v":([^}]*)\}/, answer) do
        [_all, text] -> text
        nil -> JSON.decode!(answer)["error"]["data"]["reason"]
      end
    end

    test "#{kind}: integers are exact to 1,024 digits, and refused beyond", %{server: server} do
      digits = String.duplicate("7", 1_024)

      for exact <-
            ["0", "-1", "9007199254740993", "9223372036854775807", "-9223372036854775808"] ++
              ["9223372036854775808", "18446744073709551615", "18446744073709551616", "-9223372036854775809"] ++
              ["123456789012345678901234567890", digits, "-" <> digits],
          do: assert(back(server, exact) == exact)

      assert back(server, digits <> "7") == "too_many_digits"
      assert back(server, "-" <> digits <> "7") == "too_many_digits"
    end

    test "#{kind}: floats do not drift, and have their limits", %{server: server} do
      for same <- ["0.1", "1.0", "-0.0", "0.30000000000000004", "1.7976931348623157e+308", "5e-324"],
          do: assert(back(server, same) == same)

      assert back(server, "-0") == "0"
      assert back(server, "1e2") == "100.0"
      assert back(server, "1e-400") == "0.0"
      assert back(server, "-1e-400") == "-0.0"

      for text <- ["1E400", "-1e400", "1e999999"],
          do: assert({text, back(server, text)} == {text, "number_out_of_range"})

      # The digits of integer part, fraction and exponent are added up.
      assert back(server, "0." <> String.duplicate("0", 1_022) <> "1") == "0.0"
      assert back(server, "0." <> String.duplicate("0", 1_023) <> "1") == "too_many_digits"
      assert back(server, "1e" <> String.duplicate("0", 1_022) <> "1") == "10.0"
      assert back(server, "1e" <> String.duplicate("0", 1_023) <> "1") == "too_many_digits"
      assert back(server, "1e-" <> String.duplicate("0", 1_024)) == "too_many_digits"
    end

    @tag req: "M16"
    test "#{kind}: bounds of 64 bits in a schema are exact", %{server: server} do
      call = &request("tools/call", ~s("name":"bounded","arguments":{"v":#{&1}}))

      for {number, fits?} <- [
            {"18446744073709551615", true},
            {"18446744073709551616", false},
            {"-9223372036854775808", true},
            {"-9223372036854775809", false}
          ] do
        {_status, answer} = ask(server, call.(number), {"tools/call", "bounded"})
        assert {number, JSON.decode!(answer)["result"]["isError"] != true} == {number, fits?}
      end
    end
  end
end
