defmodule McpServer.MemoryTest do
  # A retained part of a message does not retain the rest, and refusing a message takes little memory of the VM.
  # `rust_tests/tests/memory` measures the core's own allocations. Not async: measures the memory of the whole VM.
  use ExUnit.Case, async: false

  alias McpServer.{Catalog, HttpCase, HttpPeer, HttpRequests, JSON, LimitsPeers, LimitsRouter, Protocol}

  @moduletag :tmp_dir
  @moduletag :capture_log

  @mib 1024 * 1024
  # Long enough to be a shared binary instead of a heap binary.
  @name String.duplicate("n", 100)

  # All binaries in a term.
  defp binaries(binary) when is_binary(binary), do: [binary]
  defp binaries([head | tail]), do: binaries(head) ++ binaries(tail)
  defp binaries(tuple) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> binaries()
  defp binaries(%_struct{} = struct), do: struct |> Map.from_struct() |> binaries()
  defp binaries(map) when is_map(map), do: map |> Map.to_list() |> binaries()
  defp binaries(_other), do: []

  defp keeps_only_itself(binary),
    do: assert({byte_size(binary), :binary.referenced_byte_size(binary)} == {byte_size(binary), byte_size(binary)})

  describe "decoding" do
    test "a short string of 5 MB keeps none of them" do
      text = ~s({"filler":"#{String.duplicate("x", 5 * @mib)}","name":"#{@name}","rows":[{"#{@name}":1}]})
      {:ok, %{"name" => name, "rows" => [row]}} = JSON.decode(text)
      for binary <- [name | Map.keys(row)], do: keeps_only_itself(binary)
    end

    test "the memory is given back once the text is forgotten" do
      before = :erlang.memory(:binary)

      names =
        for number <- 1..4 do
          text = ~s({"filler":"#{String.duplicate("x", 5 * @mib)}","name":"#{@name}#{number}"})
          JSON.decode!(text)["name"]
        end

      HttpCase.eventually(fn -> :erlang.garbage_collect() and :erlang.memory(:binary) - before < @mib end)
      assert Enum.map(names, &byte_size/1) == [101, 101, 101, 101]
    end

    test "a long string is a part of the text only where that is most of what it keeps" do
      long = String.duplicate("l", 8_000)
      text = ~s({"a":"#{long}","b":"#{String.duplicate("x", 10_000)}"})
      assert :binary.referenced_byte_size(JSON.decode!(text)["a"]) == byte_size(text)
      # Below a quarter of the text, the string is copied.
      keeps_only_itself(JSON.decode!(~s({"a":"#{long}","b":"#{String.duplicate("x", 30_000)}"}))["a"])
      # A line of a larger binary: a sub-binary would retain all of it.
      chunk = text <> String.duplicate(" ", @mib)
      keeps_only_itself(JSON.decode!(binary_part(chunk, 0, byte_size(text)))["a"])
    end
  end

  describe "a message of 4 MiB" do
    @filler String.duplicate("x", 4 * @mib)

    defp admit(session, method, params, envelope \\ ~s("id":"#{@name}")) do
      line = ~s({"jsonrpc":"2.0",#{envelope},"method":"#{method}","filler":"#{@filler}","params":{#{params}}})
      Protocol.admit(Catalog.fetch(LimitsRouter), %{revision: session}, line)
    end

    test "leaves arguments, names, tokens and ids that keep nothing of it" do
      meta = ~s("_meta":{"progressToken":"#{@name}","own":{"#{@name}":"#{@name}"}})
      session = "2025-11-25"

      for {method, params} <- [
            {"tools/call", ~s("name":"back","arguments":{"#{@name}":["#{@name}"]},#{meta})},
            {"resources/read", ~s("uri":"x://#{@name}",#{meta})},
            {"resources/subscribe", ~s("uri":"x://#{@name}")}
          ] do
        assert {:request, request} = admit(session, method, params)
        found = Enum.filter(binaries(request), &(byte_size(&1) >= 64))
        assert length(found) >= 2
        Enum.each(found, &keeps_only_itself/1)
      end
    end

    test "leaves what a client of 2026-07-28 says of itself, and brings" do
      meta =
        ~s("io.modelcontextprotocol/protocolVersion":"2026-07-28",) <>
          ~s("io.modelcontextprotocol/clientCapabilities":{"#{@name}":{}},) <>
          ~s("io.modelcontextprotocol/clientInfo":{"name":"#{@name}","version":"#{@name}"})

      params =
        ~s("name":"back","_meta":{#{meta}},"requestState":"#{@name}",) <>
          ~s("inputResponses":{"#{@name}":{"action":"accept","content":{"#{@name}":"#{@name}"}}})

      assert {:request, request} = admit(nil, "tools/call", params)
      found = Enum.filter(binaries(request), &(byte_size(&1) >= 64))
      assert length(found) >= 7
      Enum.each(found, &keeps_only_itself/1)
    end

    test "leaves a session's client" do
      params =
        ~s("protocolVersion":"2025-11-25","capabilities":{"#{@name}":{}},"clientInfo":{"name":"#{@name}","version":"1"})

      assert {:open, _reply, opening} = admit(nil, "initialize", params)
      found = Enum.filter(binaries(opening), &(byte_size(&1) >= 64))
      assert length(found) == 3
      Enum.each(found, &keeps_only_itself/1)
    end

    test "leaves notices, and answers to what the server asked" do
      for {method, params} <- [
            {"notifications/cancelled", ~s("requestId":"#{@name}","reason":"#{@name}")},
            {"notifications/progress", ~s("progressToken":"#{@name}","progress":1,"message":"#{@name}")}
          ] do
        assert {:notification, notice} = admit("2025-11-25", method, params, ~s("own":1))
        found = Enum.filter(binaries(notice), &(byte_size(&1) >= 64))
        assert length(found) >= 2
        Enum.each(found, &keeps_only_itself/1)
      end

      for outcome <- [
            ~s("error":{"code":-1,"message":"#{@name}","data":{"#{@name}":"#{@name}"}}),
            ~s("result":{"action":"accept","content":{"#{@name}":"#{@name}"}})
          ] do
        line = ~s({"jsonrpc":"2.0","id":"#{@name}",#{outcome},"filler":"#{@filler}"})

        assert {:response, _id, _outcome} =
                 response = Protocol.admit(Catalog.fetch(LimitsRouter), %{revision: "2025-11-25"}, line)

        Enum.each(Enum.filter(binaries(response), &(byte_size(&1) >= 64)), &keeps_only_itself/1)
      end
    end
  end

  for kind <- LimitsPeers.kinds() do
    test "#{kind}: what a tool keeps of 3 MB is what it keeps", context do
      server = LimitsPeers.start(unquote(kind), context)

      for {text, filler} <- [
            {@name, 3 * @mib},
            {String.duplicate("t", 10_000), 3 * @mib},
            {String.duplicate("t", 2 * @mib), @mib}
          ] do
        arguments = ~s({"text":"#{text}","filler":"#{String.duplicate("x", filler)}"})
        message = LimitsPeers.request("tools/call", ~s("name":"keep","arguments":#{arguments}))
        {_status, answer} = LimitsPeers.ask(server, message, {"tools/call", "keep"})
        size = byte_size(text)
        assert %{"bytes" => ^size, "kept" => ^size} = JSON.decode!(answer)["result"]["structuredContent"]
      end
    end
  end

  # A plug's process reads the body, and then waits for the response.
  for kind <- [:listener, :plug] do
    test "#{kind}: while a call runs, its message is forgotten" do
      # A plug notices when it writes that its client is gone.
      {_kind, server} = LimitsPeers.start(unquote(kind), %{}, http: [stream_after: 500, keep_alive: 100])
      filler = String.duplicate("x", 3 * @mib)
      message = LimitsPeers.request("tools/call", ~s("name":"wait","filler":"#{filler}"))
      headers = [{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/call"}, {"mcp-name", "wait"}]
      request = HttpRequests.post(message, headers)
      peers = for _ <- 1..4, do: HttpPeer.connect(server.port)
      before = :erlang.memory(:binary)
      for peer <- peers, do: :ok = HttpPeer.send_request(peer, request)
      HttpCase.eventually(fn -> waiting() == 4 end)
      HttpCase.eventually(fn -> :erlang.memory(:binary) - before < @mib end)
      Enum.each(peers, &HttpPeer.close/1)
      HttpCase.eventually(fn -> waiting() == 0 end)
    end
  end

  defp waiting do
    wait = {:current_function, {LimitsRouter.Handlers, :wait, 2}}
    Enum.count(Process.list(), &(Process.info(&1, :current_function) == wait))
  end

  # The process that admits an invalid message needs almost no heap for it.
  test "a refused message costs no term" do
    catalog = Catalog.fetch(LimitsRouter)
    many = Enum.map_join(1..199_000, ",", &~s("#{Integer.to_string(&1, 36)}":0))

    for {code, text} <- [
          {-32_700, String.duplicate("[", 10_000_000)},
          {-32_700, "[" <> Enum.map_join(1..200_001, ",", fn _n -> "0" end) <> "]"},
          {-32_600, ~s({"jsonrpc":"2.0","id":1,"method":"x","params":{#{many},"1":1}})},
          {-32_700, ~s({"a":"#{@filler}) <> <<0xFF>>},
          {-32_600, ~s({"jsonrpc":"1.0","id":1,"method":"x","params":{"a":"#{@filler}"}})},
          {-32_602, ~s({"jsonrpc":"2.0","id":1,"method":"x","params":{#{many}}})},
          {-32_601, ~s({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":{#{many}}}})}
        ] do
      test = self()

      admit = fn ->
        {:reply, answer} = Protocol.admit(catalog, %{revision: "2025-11-25"}, text)
        send(test, {:answer, JSON.decode!(IO.iodata_to_binary(answer))["error"]["code"]})
      end

      # 64 kilobytes.
      :erlang.spawn_opt(admit, max_heap_size: %{size: 8_192, kill: true, error_logger: false})
      assert_receive {:answer, ^code}, 30_000
    end
  end

  # The writer's buffer of some megabytes is reused. Earlier, a text of some kilobytes retained the whole buffer as long
  # as it was stored, in an event store or a page of rows.
  test "a text does not keep the buffer of a larger one" do
    large = String.duplicate("x", 3 * @mib)
    small = String.duplicate("y", 80_000)

    kept =
      for _round <- 1..40 do
        {:ok, _text} = JSON.encode([large])
        :erlang.garbage_collect()
        {:ok, text} = JSON.encode([small])
        text
      end

    assert Enum.sum(Enum.map(kept, &byte_size/1)) == 40 * 80_004
    before = resident()
    forget(kept)
    :erlang.garbage_collect()
    # The memory of the forty texts is freed, and is smaller than forty buffers.
    assert before - resident() < 40 * @mib
  end

  # The last use of the texts.
  defp forget(texts), do: assert(length(texts) == 40)

  defp resident do
    [_all, pages | _rest] = "/proc/self/statm" |> File.read!() |> String.split()
    String.to_integer(pages) * 4_096
  end
end
