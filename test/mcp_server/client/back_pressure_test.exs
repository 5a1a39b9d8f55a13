defmodule McpServer.Client.BackPressureTest do
  # A server sends as fast as it likes. A link reads no faster than its owner takes the messages.
  use ExUnit.Case, async: true

  import McpServer.HttpCase, only: [eventually: 1]

  alias McpServer.Client.{Command, Error, Http, Link}
  alias McpServer.{Client, JSON, Processes, ScriptedServer}

  @patience 30_000
  @stream [{"content-type", "text/event-stream"}]
  @meta %{
    "io.modelcontextprotocol/protocolVersion" => "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities" => %{}
  }
  @mebi 1024 * 1024

  defp link(server) do
    reference = make_ref()
    link = start_supervised!({Http, url: server.url, owner: self(), reference: reference}, id: reference)
    %{link: link, reference: reference}
  end

  defp send_message(%{link: link, reference: reference}, message),
    do: send(link, {:mcp_client_in, reference, {:lines, [JSON.encode!(Map.put(message, "jsonrpc", "2.0"))]}})

  defp request(id, method), do: %{"id" => id, "method" => method, "params" => %{"_meta" => @meta}}

  # The next message with its receipt: it is not taken yet.
  defp offered(%{reference: reference}) do
    assert_receive {:mcp_client, ^reference, message, receipt}, @patience
    {message, receipt}
  end

  defp take(link) do
    {message, receipt} = offered(link)
    :ok = Link.taken(receipt)
    message
  end

  # A process that waits for the owner has a monitor of it.
  defp waits_for?(pid, owner) do
    case Process.info(pid, [:status, :monitors]) do
      [status: :waiting, monitors: monitors] -> {:process, owner} in monitors
      _gone_or_running -> false
    end
  end

  defp queued(pid), do: pid |> Process.info(:message_queue_len) |> elem(1)

  defp event(message), do: ["data: ", JSON.encode!(Map.put(message, "jsonrpc", "2.0")), "\n\n"]
  defp said(number), do: %{"method" => "notifications/message", "params" => %{"data" => number}}
  defp answer(id, result), do: %{"jsonrpc" => "2.0", "id" => id, "result" => result}

  # A mebibyte that is no answer.
  defp noise, do: IO.iodata_to_binary(event(said(String.duplicate("x", @mebi))))

  defp flood(connection) do
    ScriptedServer.push(connection, ScriptedServer.head(200, @stream))
    ScriptedServer.flood(connection, noise())
  end

  # Earlier, all that the server sent came into the owner's mailbox: 2 GB in 14 seconds.
  test "a stream is read no further than one message ahead of its owner" do
    test = self()
    server = ScriptedServer.start(fn _request -> &flood/1 end)

    notify = fn "notifications/message", _params ->
      send(test, :told)

      receive do
        :go_on -> :ok
        :leave -> exit(:normal)
      end
    end

    owner =
      spawn(fn ->
        client = Client.open({:url, server.url}, revision: "2026-07-28", notify: notify)
        send(test, {:link, client.connection})
        Client.call(client, "own/stream", %{})
      end)

    assert_receive {:link, link}, @patience

    for _message <- 1..3 do
      assert_receive :told, @patience
      [reader] = Processes.children(link)
      eventually(fn -> (waits_for?(reader, owner) and queued(owner) == 1) or not Process.alive?(reader) end)
      assert queued(owner) == 1
      send(owner, :go_on)
    end

    assert_receive :told, @patience
    send(owner, :leave)
    # Four were told, one waited, and the sockets have room for less than another one.
    assert ScriptedServer.flooded(server) in (4 * @mebi)..(7 * @mebi)
  end

  # Earlier, none of the messages waited.
  test "while a message waits, the link sends other requests and cancels" do
    server =
      ScriptedServer.start(fn request ->
        case JSON.decode!(request.body) do
          %{"id" => 1} -> ScriptedServer.response(200, @stream, Enum.map(1..3, &event(said(&1))))
          %{"id" => id} -> ScriptedServer.json(answer(id, %{}))
        end
      end)

    link = link(server)
    send_message(link, request(1, "own/stream"))
    assert {%{"params" => %{"data" => 1}}, {reader, _mark} = first} = offered(link)
    eventually(fn -> waits_for?(reader, self()) end)
    send_message(link, request(2, "ping"))
    assert take(link) == answer(2, %{})
    refute_received {:mcp_client, _reference, _message, _receipt}

    Link.taken(first)
    assert {%{"params" => %{"data" => 2}}, second} = offered(link)
    monitor = Processes.monitor(reader)
    send_message(link, %{"method" => "notifications/cancelled", "params" => %{"requestId" => 1}})
    assert_receive {:DOWN, ^monitor, :process, ^reader, :killed}, @patience
    Link.taken(second)
    send_message(link, request(3, "ping"))
    assert take(link) == answer(3, %{})
    refute_received {:mcp_client, _reference, _message, _receipt}
  end

  test "a stream ends with its owner" do
    test = self()
    server = ScriptedServer.start(fn _request -> &flood/1 end)

    owner =
      spawn(fn ->
        assert_receive {:mcp_client, _reference, _message, {reader, _mark}}, @patience
        send(test, {:reader, reader})
        Process.sleep(:infinity)
      end)

    reference = make_ref()
    link = start_supervised!({Http, url: server.url, owner: owner, reference: reference})
    send_message(%{link: link, reference: reference}, request(1, "own/stream"))
    assert_receive {:reader, reader}, @patience
    monitor = Processes.monitor(reader)
    Process.exit(owner, :kill)
    assert_receive {:DOWN, ^monitor, :process, ^reader, :shutdown}, @patience
    assert ScriptedServer.flooded(server) < 3 * @mebi
  end

  # The server reads the client's answer when all of its stream was read. So whoever waits for the answer to be read has
  # to read on.
  test "a server asks, and sends much before it reads the answer" do
    opened = %{"protocolVersion" => "2025-11-25", "capabilities" => %{}}
    question = %{"id" => "q", "method" => "roots/list"}

    server =
      ScriptedServer.start(fn request ->
        case JSON.decode!(request.body) do
          %{"id" => id, "method" => "initialize"} ->
            ScriptedServer.json(answer(id, opened))

          %{"id" => id, "method" => "own/question"} ->
            noise = List.duplicate(noise(), 20)
            ScriptedServer.response(200, @stream, [event(question), noise, event(answer(id, %{"done" => true}))])

          _answer_or_notification ->
            ScriptedServer.response(202, [], "")
        end
      end)

    test = self()
    notify = fn "notifications/message", _params -> send(test, :told) end
    answers = %{"roots/list" => %{"roots" => []}}
    client = Client.open({:url, server.url}, revision: "2025-11-25", answers: answers, notify: notify)
    assert Client.call(client, "own/question", %{}) == {:ok, %{"done" => true}}
    for _message <- 1..20, do: assert_received(:told)
    refute_received :told
    bodies = for _request <- 1..4, do: JSON.decode!(ScriptedServer.requested(server).body)
    assert List.last(bodies) == %{"jsonrpc" => "2.0", "id" => "q", "result" => %{"roots" => []}}
  end

  # Earlier, the link itself read it, and heard nothing of its owner meanwhile.
  test "a stream that answers a notification is not read" do
    server =
      ScriptedServer.start(fn request ->
        case JSON.decode!(request.body) do
          %{"id" => id} -> ScriptedServer.json(answer(id, %{}))
          _notification -> &flood/1
        end
      end)

    link = link(server)
    send_message(link, %{"method" => "notifications/x"})
    send_message(link, request(1, "ping"))
    assert take(link) == answer(1, %{})
    assert ScriptedServer.flooded(server) < 2 * @mebi
    refute_received {:mcp_notification, _method, _params}
  end

  # Earlier, a page was bounded, and all pages together were not: 1.8 GB in 20 seconds.
  test "the pages of a list take at most 64 MiB together" do
    list = fn last ->
      server =
        ScriptedServer.start(fn request ->
          %{"id" => id, "params" => params} = JSON.decode!(request.body)
          number = String.to_integer(params["cursor"] || "1")
          page = %{"tools" => [%{"name" => "t#{number}", "description" => String.duplicate("d", 10 * @mebi)}]}
          next = if number == last, do: %{}, else: %{"nextCursor" => "#{number + 1}"}
          ScriptedServer.json(answer(id, Map.merge(page, next)))
        end)

      client = Client.open({:url, server.url}, revision: "2026-07-28")
      {fn -> Client.list(client, "tools/list", "tools") end, server}
    end

    {six, _server} = list.(6)
    assert {:ok, tools} = six.()
    assert Enum.map(tools, & &1["name"]) == ~w(t1 t2 t3 t4 t5 t6)

    {endless, server} = list.(12)
    assert_raise Error, "the server's pages of tools/list take more than 64 MiB together", endless
    assert length(ScriptedServer.all_requested(server)) == 7
  end

  # Earlier, the link read a thousand pages, and kept the names of all their tools.
  test "the tools that a link remembers take at most 64 MiB" do
    server =
      ScriptedServer.start(fn request ->
        case JSON.decode!(request.body) do
          %{"id" => id, "method" => "tools/list", "params" => params} ->
            number = String.to_integer(params["cursor"] || "1")
            name = "#{number}" <> String.duplicate("n", 20 * @mebi)
            next = if number == 10, do: %{}, else: %{"nextCursor" => "#{number + 1}"}
            ScriptedServer.json(answer(id, Map.merge(%{"tools" => [%{"name" => name}]}, next)))

          %{"id" => id} ->
            ScriptedServer.json(answer(id, %{"content" => []}))
        end
      end)

    link = link(server)
    call = put_in(request(1, "tools/call"), ["params", "name"], "x")
    send_message(link, call)
    assert take(link) == answer(1, %{"content" => []})

    requested =
      for request <- ScriptedServer.all_requested(server), do: JSON.decode!(request.body) |> Map.take(["method"])

    assert Enum.map(requested, & &1["method"]) == List.duplicate("tools/list", 4) ++ ["tools/call"]

    for number <- 5..7 do
      send_message(link, put_in(request(number, "tools/list"), ["params", "cursor"], "#{number}"))
      assert %{"id" => ^number} = take(link)
    end

    # The pages 5, 6 and 7: with those of before they would be too large.
    remembered = link.link |> :sys.get_state() |> Map.fetch!(:parameters) |> Map.keys()
    assert remembered |> Enum.map(&binary_part(&1, 0, 2)) |> Enum.sort() == ["5n", "6n", "7n"]
  end

  defp command(command) do
    reference = make_ref()
    options = [command: command, owner: self(), reference: reference]
    link = start_supervised!(%{id: reference, start: {Command, :start_link, [options]}, restart: :temporary})
    %{link: link, reference: reference}
  end

  # Earlier, the messages came at once.
  test "a command's messages come one after the other, and before its end" do
    lines = Enum.map_join(1..3, " ", &"'#{JSON.encode!(said(&1))}'")
    link = command("sh -c 'read line; printf \"%s\\n\" \"$@\"; exit 3' sh #{lines} '' '{}'")
    send_message(link, request(1, "ping"))
    monitor = Process.monitor(link.link)
    # Now the link has read all that the command wrote.
    eventually(fn -> :sys.get_state(link.link).ended != nil end)

    for number <- 1..3 do
      assert {message, receipt} = offered(link)
      assert message == said(number)
      refute_received {:mcp_client, _reference, _message, _receipt}
      Link.taken(receipt)
    end

    assert take(link) == %{}
    reference = link.reference
    assert_receive {:mcp_client, ^reference, {:failed, 1, error}}, @patience
    assert {error.kind, error.message} == {:closed, "the command ended with status 3 before it answered"}
    assert_receive {:DOWN, ^monitor, :process, _link, :normal}, @patience
  end

  # Earlier, all of them came into the owner's mailbox.
  test "a command that writes 64 MiB more than is taken is ended" do
    line = JSON.encode!(said(String.duplicate("x", 10_000)))
    link = command("sh -c 'exec 2>/dev/null; read line; yes \"$0\" | head -c 100000000' '#{line}'")
    send_message(link, request(1, "ping"))
    reference = link.reference
    assert_receive {:mcp_client, ^reference, {:failed, 1, error}}, @patience
    text = "the command writes faster than its messages are read: too many of them wait"
    assert {error.kind, error.message} == {:closed, text}
    assert_received {:mcp_client, ^reference, %{"method" => "notifications/message"}, _receipt}
    refute_received {:mcp_client, ^reference, _message, _receipt}
  end
end
