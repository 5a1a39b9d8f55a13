defmodule McpServer.HttpTable.Bodies do
  # Invalid messages in both eras: JSON, envelope, ids, duplicates, depth, batches.
  @moduledoc false

  import McpServer.HttpRequests
  import McpServer.HttpTable, only: [row: 4, row: 5]

  alias McpServer.JSON

  @session_revisions ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]

  def rows, do: Enum.concat([undecodable(), envelopes(), ids(), names(), depths(), batches()])

  defp modern_head,
    do: [{"mcp-protocol-version", newest()}, {"mcp-method", "tools/call"}, {"mcp-name", "echo"}]

  # An error without an id has no `id` member. Before 2025-11-25 the member is null.
  defp no_id(revision, code) when revision < "2025-11-25", do: {:error, code, nil}
  defp no_id(_revision, code), do: {:error, code}

  defp undecodable do
    unreadable = [
      {"empty", ""},
      {"white space", "  \r\n"},
      {"cut", ~s({"jsonrpc":"2.0","id":1,"method":"ping")},
      {"two values", ~s({"jsonrpc":"2.0","id":1,"method":"ping"}{})},
      {"UTF-16", :unicode.characters_to_binary(~s({"jsonrpc":"2.0"}), :utf8, {:utf16, :little})},
      {"BOM", "\uFEFF" <> ~s({"jsonrpc":"2.0","id":1,"method":"ping"})},
      {"a comment", ~s({"jsonrpc":"2.0",/* */"id":1,"method":"ping"})}
    ]

    # The envelope can be read, so the error has the request's id.
    with_id =
      for {name, value} <- [
            {"NaN", "NaN"},
            {"1e400", "1e400"},
            {"invalid UTF-8", [?", 0xFF, 0xFE, ?"]},
            {"half an emoji", ~S("\ud83d")},
            {"129 levels", [String.duplicate("[", 127), String.duplicate("]", 127)]},
            {"an integer of 1,025 digits", String.duplicate("9", 1_025)}
          ] do
        {name, [~s({"jsonrpc":"2.0","method":"ping","params":{"a":), value, ~s(},"id":1})]}
      end

    for {bodies, id} <- [{unreadable, nil}, {with_id, 1}], {name, body} <- bodies, reduce: [] do
      rows -> rows ++ undecodable(name, body, id)
    end
  end

  defp undecodable(name, body, id) do
    expected = if id, do: fn _revision -> {:error, -32700, id} end, else: &no_id(&1, -32700)

    [
      row({~w(M1 SEC-11), "not JSON: #{name}"}, post(body), 400, expected.(newest())),
      row({~w(M1 SEC-11), "not JSON: #{name}, 2026-07-28"}, post(body, modern_head()), 400, expected.(newest()))
      | for revision <- @session_revisions do
          row({~w(M1 SEC-11), "not JSON: #{name}, session #{revision}"}, in_session(body), 400, expected.(revision),
            session: revision
          )
        end
    ]
  end

  defp envelopes do
    wrong = [
      {"1", "1"},
      {"null", "null"},
      {"text", ~s("x")},
      {"{}", "{}"},
      {"no jsonrpc", ~s({"method":"ping"})},
      {"jsonrpc 1.0", ~s({"jsonrpc":"1.0","method":"ping"})},
      {"jsonrpc 2", ~s({"jsonrpc":2,"method":"ping"})},
      {"method a number", ~s({"jsonrpc":"2.0","method":1})}
    ]

    with_id = [
      {"no method", ~s({"jsonrpc":"2.0","id":7})},
      {"no jsonrpc", ~s({"id":7,"method":"ping"})},
      {"method a number", ~s({"jsonrpc":"2.0","id":7,"method":1})},
      {"method beside result", ~s({"jsonrpc":"2.0","id":7,"method":"ping","result":{}})},
      {"result beside error", ~s({"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"m"}})},
      {"params a scalar", ~s({"jsonrpc":"2.0","id":7,"method":"ping","params":1})},
      {"two methods", ~s({"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call"})},
      {"two methods, one escaped", ~S({"jsonrpc":"2.0","id":7,"method":"ping","\u006dethod":"tools/call"})},
      {"two members of that name deep inside",
       ~s({"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"a":1,"a":2}}})},
      {"two members of that name, and 1,200 others behind them",
       ~s({"jsonrpc":"2.0","id":7,"method":"ping","params":{"arguments":{"x":{"y":{"a":1,"a":2},#{members(1_200)}}}}})}
    ]

    for({name, body} <- wrong, do: row({"M3", "no message: #{name}"}, post(body), 400, {:error, -32600})) ++
      for {name, body} <- wrong do
        row({"M3", "no message: #{name}, session"}, in_session(body), 400, {:error, -32600}, session: "2025-11-25")
      end ++
      for(
        {name, body} <- with_id,
        do: row({"M3", "no message: #{name}, with an id"}, post(body), 400, {:error, -32600, 7})
      ) ++
      for {name, body} <- with_id do
        row({"M3", "no message: #{name}, with an id, session"}, in_session(body), 400, {:error, -32600, 7},
          session: "2025-06-18"
        )
      end ++
      [
        row({"M13", "two ids"}, post(~s({"jsonrpc":"2.0","id":7,"id":8,"method":"ping"})), 400, {:error, -32600}),
        row(
          {"M14", "params an array, session"},
          in_session(~s({"jsonrpc":"2.0","id":7,"method":"ping","params":[]})),
          400,
          {:error, -32602, 7},
          session: "2025-11-25"
        )
      ]
  end

  defp members(count), do: Enum.map_join(1..count, ",", &~s("k#{&1}":0))

  defp ids do
    refused = ["null", "true", "1.0", "1.5", "{}", "[]", "18446744073709551616", ~s("#{String.duplicate("i", 257)}")]

    echoed = [
      {"0", 0},
      {"-5", -5},
      {~s(""), ""},
      {~s("1"), "1"},
      {"9007199254740993", 9_007_199_254_740_993},
      {"-9223372036854775808", -9_223_372_036_854_775_808},
      {~s("#{String.duplicate("i", 256)}"), String.duplicate("i", 256)}
    ]

    body = &~s({"jsonrpc":"2.0","id":#{&1},"method":"ping"})
    short = &String.slice(&1, 0, 24)

    for id <- refused, revision <- ["2025-06-18", "2025-11-25"] do
      row(
        {~w(M4 M6), "id #{short.(id)} is refused, session #{revision}"},
        in_session(body.(id)),
        400,
        no_id(revision, -32600),
        session: revision
      )
    end ++
      for {text, id} <- echoed do
        row({~w(M5 M6), "id #{short.(text)} is echoed"}, in_session(body.(text)), 200, {:result, id, %{}},
          session: "2025-11-25"
        )
      end ++
      for {text, id} <- echoed do
        discover = modern("server/discover", %{}, id: id)
        row({~w(M5 M6), "id #{short.(text)} is echoed, 2026-07-28"}, discover, 200, {:result, id, %{}})
      end
  end

  # U+017F and U+212A become s and k in a comparison without case.
  defp names do
    for {name, body, expected} <- [
          {"Method", ~s({"jsonrpc":"2.0","id":7,"Method":"ping"}), {:error, -32600, 7}},
          {"JSONRPC", ~s({"JSONRPC":"2.0","id":7,"method":"ping"}), {:error, -32600, 7}},
          {"ID", ~s({"jsonrpc":"2.0","ID":7}), {:error, -32600}},
          {"methoD beside method", ~s({"jsonrpc":"2.0","id":7,"method":"ping","methoD":"tools/call"}),
           {:result, 7, %{}}}
        ] do
      status = if elem(expected, 0) == :result, do: 200, else: 400
      row({~w(SEC-03 M12), "a member spelled #{name}"}, in_session(body), status, expected, session: "2025-11-25")
    end ++
      for {name, member} <- [{"param\u017F", "param\u017F"}, {"Params", "Params"}] do
        body = ~s({"jsonrpc":"2.0","id":7,"method":"tools/call","#{member}":{"name":"echo","arguments":{"text":"x"}}})

        row({~w(SEC-03 M12), "#{name} is not params"}, in_session(body), 400, {:error, -32602, 7}, session: "2025-11-25")
      end
  end

  defp depths do
    # The value is on the third level of the message.
    nested = fn levels ->
      value = String.duplicate("[", levels - 2) <> String.duplicate("]", levels - 2)
      ~s({"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":#{value}}})
    end

    [
      row({"M2", "128 levels"}, in_session(nested.(128)), 200, {:result, 7, %{}}, session: "2025-11-25"),
      row({"M2", "129 levels"}, in_session(nested.(129)), 400, {:error, -32700, 7}, session: "2025-11-25"),
      row({"M2", "129 levels, 2026-07-28"}, post(nested.(129), modern_head()), 400, {:error, -32700, 7}),
      row({"M2", "100,000 levels"}, fn -> post(String.duplicate("[", 100_000)) end, 400, {:error, -32700}),
      row({"M2", "200,000 values"}, fn -> in_session(values(200_000)) end, 200, {:result, 7, %{}}, session: "2025-11-25"),
      row({"M2", "200,001 values"}, fn -> in_session(values(200_001)) end, 400, {:error, -32700, 7},
        session: "2025-11-25"
      )
    ]
  end

  # The object, its three texts and numbers, the params and the array also count as values.
  defp values(count) do
    numbers = List.duplicate("0", count - 6) |> Enum.intersperse(",")
    [~s({"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":[), numbers, "]}}"]
  end

  defp batches do
    ping = &message("ping", %{}, id: &1)
    note = message("notifications/nothing", %{}, id: nil)
    batch = &in_session(JSON.encode!(&1))
    fifty = Enum.map(1..50, ping)

    refused =
      for revision <- @session_revisions -- ["2025-03-26"] do
        row({"M9", "a batch in #{revision}"}, batch.([ping.(1)]), 400, no_id(revision, -32600), session: revision)
      end

    refused ++
      [
        row({"M9", "a batch of 2026-07-28"}, post(JSON.encode!([ping.(1)]), modern_head()), 400, {:error, -32600}),
        row({"M9", "a batch without a session"}, post(JSON.encode!([ping.(1)])), 400, {:error, -32600}),
        row(
          {"M9", "a batch in 2025-03-26"},
          batch.([ping.(1), note, ping.("b")]),
          200,
          {:batch, [{:result, 1, %{}}, {:result, "b", %{}}]},
          session: "2025-03-26"
        ),
        row(
          {"M9", "a batch with something wrong"},
          batch.([ping.(1), %{"id" => 2}]),
          200,
          {:batch, [{:result, 1, %{}}, {:error, -32600, 2}]},
          session: "2025-03-26"
        ),
        row({"M9", "a batch of notifications"}, batch.([note, note]), 202, :empty, session: "2025-03-26"),
        row({"M9", "an empty batch"}, batch.([]), 400, {:error, -32600, nil}, session: "2025-03-26"),
        row({"M9", "50 messages"}, batch.(fifty), 200, {:batch, for(id <- 1..50, do: {:result, id, %{}})},
          session: "2025-03-26"
        ),
        row({"M9", "51 messages"}, batch.(fifty ++ [note]), 400, {:error, -32600, nil}, session: "2025-03-26")
      ]
  end
end
