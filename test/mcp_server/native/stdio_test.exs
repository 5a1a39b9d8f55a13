defmodule McpServer.Native.StdioTest do
  # The native reader of stdin, in a separate VM, because it takes over descriptors 0 and 1.
  use ExUnit.Case, async: true

  @moduletag slow: "each test starts a VM"

  import McpServer.StdioPeer, only: [in_pieces: 1]

  # Sends each event of stdin to the client in one line, one credit at a time.
  @echo ~S"""
  alias McpServer.Native
  {:ok, reader, output} = Native.stdio_open()
  port = Port.open({:fd, output, output}, [:out, :binary])
  say = fn event -> Port.command(port, inspect(event, limit: :infinity, printable_limit: 200) <> "\n") end

  echo = fn echo ->
    :ok = Native.stdio_credit(reader, 1)

    receive do
      {:mcp_stdin, ^reader, :eof} -> say.(:eof)
      {:mcp_stdin, ^reader, event} -> say.(event) && echo.(echo)
    end
  end

  _ = echo
  """

  defp vm(script, options) do
    input = Keyword.get(options, :input, "")
    path = Path.join(System.tmp_dir!(), "mcp_stdio_#{System.unique_integer([:positive])}")
    on_exit(fn -> Enum.each([path, path <> ".in"], &File.rm/1) end)
    File.write!(path, @echo <> script)
    File.write!(path <> ".in", input)
    ebin = Path.dirname(to_string(:code.which(McpServer.Native)))
    elixir = System.find_executable("elixir")
    command = "#{elixir} --erl -noinput -pa #{ebin} #{path}"
    feed = Keyword.get(options, :feed, "cat INPUT | COMMAND")
    feed = feed |> String.replace("INPUT", path <> ".in") |> String.replace("COMMAND", command)
    {output, 0} = System.cmd("sh", ["-c", feed])
    String.split(output, "\n", trim: true)
  end

  defp echoed(options, max \\ 100) do
    vm(":ok = Native.stdio_read(reader, self(), #{max})\necho.(echo)", options)
  end

  test "lines come in batches, without their ends; empty ones and CR are dropped" do
    assert echoed(input: "a\nb\r\n\n\r\n c \n") == [~s({:lines, ["a", "b", " c "]}), ":eof"]
  end

  @tag req: "S1"
  test "the last line needs no end" do
    assert echoed(input: "a\nb") == [~s({:lines, ["a"]}), ~s({:lines, ["b"]}), ":eof"]
    assert echoed(input: "") == [":eof"]
    assert echoed(input: "\n\n") == [":eof"]
  end

  test "from a pipe, a file, the null device and a non-blocking pipe" do
    nonblocking = ~S[(sleep 0.5; cat INPUT) | perl -MFcntl -e 'fcntl(STDIN, F_SETFL, O_NONBLOCK); exec @ARGV' COMMAND]

    for feed <- ["cat INPUT | COMMAND", "COMMAND < INPUT", nonblocking] do
      assert echoed(input: "a\nb\n", feed: feed) == [~s({:lines, ["a", "b"]}), ":eof"]
    end

    assert echoed(feed: "COMMAND < /dev/null") == [":eof"]
  end

  @tag req: "S2"
  test "a line over the limit is said once, in its place, and the next one is read" do
    exact = String.duplicate("x", 100)

    assert echoed(input: "a\n#{exact}\n#{exact}y\nb\n") == [
             inspect({:lines, ["a", exact]}),
             ":too_long",
             ~s({:lines, ["b"]}),
             ":eof"
           ]

    assert echoed(input: "#{exact}y") == [":too_long", ":eof"]
    assert echoed(input: exact) == [inspect({:lines, [exact]}), ":eof"]
    feed = "(head -c 300000000 /dev/zero; echo; echo b) | COMMAND"

    script =
      ":ok = Native.stdio_read(reader, self(), 1000)\necho.(echo)\nsay.(File.read!(\"/proc/self/status\") =~ \"VmHWM\")"

    assert [":too_long", ~s({:lines, ["b"]}), ":eof", "true"] = vm(script, feed: feed)
  end

  @tag req: "S2"
  test "the limit counts the line without its end, LF or CR LF" do
    line = String.duplicate("x", 100)
    assert echoed(input: "#{line}\r\nb\n") == [inspect({:lines, [line, "b"]}), ":eof"]
    assert echoed(input: "#{line}x\r\nb\n") == [":too_long", ~s({:lines, ["b"]}), ":eof"]
  end

  @tag req: "S6"
  test "one byte at a time, and 100,000 lines at once" do
    feed = ~S[perl -e '$| = 1; for (split //, "a\n\xc3\xa9\n") { print; select(undef, undef, undef, 0.01) }' | COMMAND]
    lines = for ~s({:lines, [) <> lines <- echoed(feed: feed), do: String.trim_trailing(lines, "]}")
    assert Enum.join(lines, ", ") == ~s("a", "é")

    script = ~S"""
    :ok = Native.stdio_read(reader, self(), 100)

    count = fn count, lines, bytes ->
      :ok = Native.stdio_credit(reader, 1)

      receive do
        {:mcp_stdin, ^reader, :eof} -> say.({lines, bytes})
        {:mcp_stdin, ^reader, {:lines, batch}} ->
          true = length(batch) <= 256
          count.(count, lines + length(batch), bytes + Enum.sum(Enum.map(batch, &byte_size/1)))
      end
    end

    count.(count, 0, 0)
    """

    assert vm(script, feed: "seq 1 100000 | COMMAND") == ["{100000, 488895}"]
  end

  @tag req: "S5"
  test "without credits nothing is sent, and the writer waits" do
    script = ~S"""
    :ok = Native.stdio_read(reader, self(), 100)
    nothing = receive do event -> event after 300 -> :nothing end
    say.(nothing)
    :ok = Native.stdio_credit(reader, 2)
    sizes = for _n <- 1..2 do
      receive do {:mcp_stdin, ^reader, {:lines, lines}} -> length(lines) end
    end
    say.(sizes)
    say.(receive do event -> event after 300 -> :nothing end)
    """

    assert vm(script, feed: "seq 1 1000000 2>/dev/null | COMMAND") == [":nothing", "[256, 256]", ":nothing"]
  end

  @tag req: ["S8", "T10"]
  test "what is printed goes to stderr, and descriptor 0 is no client's" do
    script = ~S"""
    IO.puts("stray")
    IO.puts(:stderr, "log")
    :os.cmd('echo stray > /proc/self/fd/1')
    # It is a socket, which a path does not open.
    say.(File.read("/dev/stdin"))
    say.(:done)
    """

    assert vm(script, input: "unread\n", feed: "cat INPUT | COMMAND 2>/dev/null") == ["{:error, :enxio}", ":done"]
  end

  test "a reader ends with its owner, and the next one misses nothing" do
    script = ~S"""
    parent = self()
    first = spawn(fn ->
      :ok = Native.stdio_read(reader, self(), 100)
      :ok = Native.stdio_credit(reader, 1)
      receive do {:mcp_stdin, ^reader, {:lines, lines}} -> send(parent, {length(lines), hd(lines)}) end
    end)
    monitor = Process.monitor(first)
    say.(receive do {count, line} when is_integer(count) -> {count, line} end)
    receive do {:DOWN, ^monitor, _type, _pid, _reason} -> :ok end
    {:ok, second, ^output} = Native.stdio_open()
    :ok = Native.stdio_read(second, self(), 100)
    :ok = Native.stdio_credit(second, 1)
    say.(receive do {:mcp_stdin, ^second, {:lines, lines}} -> hd(lines) end)
    """

    assert vm(script, feed: "seq 1 1000 | COMMAND") == [~s({256, "1"}), ~s("257")]
  end

  test "a closed reader is silent; a reader starts once" do
    script = ~S"""
    :ok = Native.stdio_read(reader, self(), 100)
    say.(Native.stdio_read(reader, self(), 100))
    :ok = Native.stdio_close(reader)
    :ok = Native.stdio_credit(reader, 5)
    say.(receive do event -> event after 200 -> :nothing end)
    {:ok, other, ^output} = Native.stdio_open()
    {ended, _monitor} = spawn_monitor(fn -> :ok end)
    receive do {:DOWN, _, :process, ^ended, _} -> :ok end
    say.(Native.stdio_read(other, ended, 100))
    """

    assert vm(script, input: "a\n") == ["{:error, :already_reading}", ":nothing", "{:error, :noproc}"]
  end

  test "bytes that somebody else had read come first" do
    script = ~S"""
    :ok = Native.stdio_prepend(reader, "first\nsec")
    :ok = Native.stdio_read(reader, self(), 100)
    echo.(echo)
    """

    assert vm(script, input: "ond\n") |> List.last() == ":eof"
    assert vm(script, input: "ond\nthird\n") == [~s({:lines, ["first"]}), ~s({:lines, ["second", "third"]}), ":eof"]
  end

  test "lines of a batch are views into one binary" do
    script = ~S"""
    :ok = Native.stdio_read(reader, self(), 100_000)
    :ok = Native.stdio_credit(reader, 1)
    receive do
      {:mcp_stdin, ^reader, {:lines, [a, b]}} -> say.({byte_size(a), byte_size(b), :binary.referenced_byte_size(a)})
    end
    """

    input = String.duplicate("a", 300) <> "\n" <> String.duplicate("b", 200) <> "\n"
    assert vm(script, input: input) == ["{300, 200, 501}"]
  end

  describe "what is taken at once" do
    @take ~S"""
    :ok = Native.stdio_read(reader, self(), 100)
    take = fn take, wait ->
      event = Native.stdio_take(reader, wait)
      if event == :none, do: take.(take, wait), else: say.(event)
    end

    _ = take
    """

    test "is what has come, in the same batches, and nothing else" do
      script = @take <> ~S"for _n <- 1..3, do: take.(take, 1000)" <> "\nsay.(Native.stdio_take(reader, 0))"
      lines = Enum.map_join(1..257, &"#{&1}\n")
      [first, rest, long, none] = vm(script, input: lines <> String.duplicate("x", 101) <> "\nhalf")
      assert first == inspect({:lines, Enum.map(1..256, &to_string/1)}, limit: :infinity)
      assert [rest, long, none] == [~s({:lines, ["257"]}), ":too_long", ":none"]
    end

    test "goes on with a line that came in pieces, and leaves the end to the thread" do
      # The second line may have come already.
      again = "event = Native.stdio_take(reader, 1000)\nif event != :none, do: say.(event)\n"
      script = @take <> "take.(take, 1000)\n" <> again <> "echo.(echo)"
      feed = "#{in_pieces(["a", "b\nc", "d\n"])} | COMMAND"
      assert vm(script, feed: feed) == [~s({:lines, ["ab"]}), ~s({:lines, ["cd"]}), ":eof"]
    end

    test "is nothing while the thread reads, of a file, and after the end" do
      # The script's file is written when nothing was taken. Until then the client is silent.
      script =
        @take <>
          ":ok = Native.stdio_credit(reader, 1)\nProcess.sleep(100)\nsay.(Native.stdio_take(reader, 0))\n" <>
          "File.write!(__ENV__.file <> \".in\", \"taken\")"

      assert vm(script, feed: "(until [ -s INPUT ]; do sleep 0.1; done; echo a) 2>/dev/null | COMMAND") == [":none"]

      script = @take <> "for _n <- 1..2, do: say.(Native.stdio_take(reader, 1000))\necho.(echo)"
      assert vm(script, input: "a\n", feed: "COMMAND < INPUT") == [":none", ":none", ~s({:lines, ["a"]}), ":eof"]
      assert vm(script, feed: "true | COMMAND") == [":none", ":none", ":eof"]
    end

    test "is nothing of what is long" do
      script =
        ":ok = Native.stdio_read(reader, self(), 1_000_000)\n" <>
          ":ok = Native.stdio_prepend(reader, String.duplicate(\"x\", 300_000) <> \"\\n\")\n" <>
          "say.(Native.stdio_take(reader, 1000))\n" <>
          ":ok = Native.stdio_credit(reader, 1)\n" <>
          "receive do {:mcp_stdin, ^reader, {:lines, [line]}} -> say.(byte_size(line)) end"

      assert vm(script, feed: "sleep 1 | COMMAND") == [":none", "300000"]
    end
  end

  describe "what is written at once" do
    # Writes full lines until the pipe accepts no more.
    @fill ~S"""
    chunk = String.duplicate("x", 4095) <> "\n"
    fill = fn fill, count ->
      case Native.stdio_write_now(reader, chunk) do
        4096 -> fill.(fill, count + 1)
        refused -> {count, refused}
      end
    end
    """

    test "goes to a pipe while there is room, and then not at all" do
      script = @fill <> ~S|{count, 0} = fill.(fill, 0); IO.puts(:stderr, "written #{count}")|
      # The client reads when the number of written chunks is known.
      feed = "(COMMAND < /dev/null 2> INPUT; cat INPUT) | (until [ -s INPUT ]; do sleep 0.1; done; cat)"
      {["written " <> count], chunks} = script |> vm(feed: feed) |> Enum.split_with(&(&1 =~ "written"))
      assert length(chunks) == String.to_integer(count) and chunks != []
      assert Enum.all?(chunks, &(byte_size(&1) == 4095))
    end

    test "goes nowhere when nobody reads" do
      script = @fill <> ~S|IO.puts(:stderr, inspect(elem(fill.(fill, 0), 1)))|
      assert vm(script, feed: "(COMMAND < /dev/null | true) 2>&1") == [":closed"]
    end

    test "is nothing to a file, which does not say whether it is ready" do
      script = ~S|IO.puts(:stderr, inspect(Native.stdio_write_now(reader, "a\n")))|
      assert vm(script, feed: "COMMAND < /dev/null 2>&1 > INPUT") == ["0"]
    end

    test "is a pipe's piece of what is longer" do
      script = ~S|say.(Native.stdio_write_now(reader, String.duplicate("x", 5000))); say.(:done)|
      assert [_x_and_count, ":done"] = answer = vm(script, [])
      assert hd(answer) == String.duplicate("x", 4096) <> "4096"
    end
  end
end
