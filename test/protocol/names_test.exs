defmodule McpServer.Protocol.NamesTest do
  # M26, over both transports: names with a meaning for a runtime, and strings that are often mishandled, are plain
  # data. They return unchanged in every position, and create no atoms.
  use ExUnit.Case, async: true

  @moduletag slow: "thousands of names, to VMs of their own"

  alias McpServer.{FaultServer, JSON}

  @moduletag :tmp_dir
  @moduletag timeout: 300_000

  @corpus Path.expand("../../../shared/corpora/naughty-strings/blns.json", __DIR__)

  @names ~w(__proto__ __struct__ constructor prototype Elixir.File Elixir.System nil true false :os.cmd $ref __mcp__ _meta)

  defp echoed(server, arguments),
    do: server |> FaultServer.call("echo", arguments) |> FaultServer.text() |> JSON.decode!()

  # Values that a header cannot contain are sent in Base64.
  defp named(name), do: [{"mcp-name", "=?base64?#{Base.encode64(name)}?="}]

  defp read(server, string) do
    uri = "faults://rows/" <> URI.encode(string, &URI.char_unreserved?/1)
    FaultServer.ask(server, "resources/read", %{"uri" => uri}, headers: named(uri))
  end

  # The first request of a kind makes the VM load modules, whose names are atoms.
  defp load_code(server) do
    assert echoed(server, %{}) == %{}
    assert %{"error" => %{"code" => -32602}} = FaultServer.call(server, "unknown", %{"a" => 1})
    assert %{"result" => %{}} = read(server, "known")
    assert %{"error" => %{}} = read(server, "/")
  end

  for transport <- FaultServer.transports() do
    @transport transport

    @tag req: "M26"
    test "#{transport}: names of runtimes, as keys, values and names of tools", context do
      server = FaultServer.start(@transport, context.tmp_dir)

      load_code(server)

      FaultServer.assert_kept(server, fn ->
        for name <- @names, arguments <- [%{name => 1}, %{"a" => %{name => name}}, %{"a" => [%{name => %{}}]}] do
          assert echoed(server, arguments) == arguments
          assert %{"error" => %{"code" => -32602}} = FaultServer.call(server, name, arguments)
        end

        all = Map.new(@names, &{&1, &1})
        assert echoed(server, all) == all
      end)

      assert FaultServer.stop(server) == 0
    end

    @tag req: "M27"
    test "#{transport}: names that nobody has heard of make no atoms (1,000 requests of 1,000,000, ten names each)",
         context do
      server = FaultServer.start(@transport, context.tmp_dir)
      name = fn -> "unheard-of-#{System.unique_integer([:positive])}" end
      names = fn -> for(_ <- 1..10, into: %{}, do: {name.(), name.()}) end

      ask = fn times ->
        for _ <- 1..times do
          arguments = names.()
          assert echoed(server, arguments) == arguments
          assert %{"error" => %{"code" => -32602}} = FaultServer.call(server, name.(), names.())
          assert %{"error" => %{"code" => -32601}} = FaultServer.ask(server, name.(), names.())
          assert %{"error" => %{}} = FaultServer.ask(server, "resources/read", Map.put(names.(), "uri", name.()))
        end
      end

      # The first requests make the VM load code.
      ask.(5)
      FaultServer.assert_kept(server, fn -> ask.(250) end)
      assert FaultServer.stop(server) == 0
    end

    @tag req: "M26"
    @tag McpServer.Installed.tags(:corpora)
    test "#{transport}: 515 naughty strings, as keys, values, names and URIs", context do
      strings = @corpus |> File.read!() |> JSON.decode!()
      assert length(strings) == 515
      server = FaultServer.start(@transport, context.tmp_dir)
      load_code(server)

      FaultServer.assert_kept(server, fn ->
        for string <- strings do
          arguments = %{"value" => string, "keys" => %{string => [string]}}
          assert echoed(server, arguments) == arguments
        end

        for string <- strings do
          assert %{"error" => %{"code" => -32602}} = FaultServer.call(server, string, %{}, headers: named(string))
        end

        # A variable matches one segment: nonempty, without slashes, backslashes and NUL, and neither `.` nor `..`.
        read = for string <- strings, answer = read(server, string), is_map_key(answer, "result"), do: {string, answer}

        for {string, answer} <- read, do: assert([%{"text" => ^string}] = answer["result"]["contents"])
        assert length(read) == 329
      end)

      assert FaultServer.stop(server) == 0
    end
  end
end
