defmodule McpServer.StdioPeer do
  # A client that starts a server as a separate operating system process, and talks to it over pipes. Every received
  # line must be a message that fits the official schema.
  @moduledoc false

  alias McpServer.{JSON, WireSchema}

  defstruct [:port, :stderr]

  # The pipe in front lets the client close the server's stdin. A port cannot: closing it also closes stdout.
  @until_eof "sed -u '/^__eof__$/Q'"

  @serve "McpServer.Stdio.run(McpServer.StdioRouter, app: :mcp_server)"

  @doc "The command that serves a router in a VM without a shell, like a release or mix. `flags` are for `elixir`."
  def vm(expression \\ @serve, flags \\ "") do
    "elixir #{flags} -pa #{quoted(ebin())} -e #{quoted(expression)}"
  end

  @doc "The folder of our compiled modules."
  def ebin, do: Path.join(Mix.Project.app_path(), "ebin")

  @doc "Starts a command. `input:` is a shell command that writes to its stdin, `output:` one that reads its stdout."
  def start(command, options \\ []) do
    stderr = Path.join(options[:tmp_dir] || System.tmp_dir!(), "stderr-#{System.unique_integer([:positive])}")
    input = options[:input] || @until_eof
    output = if reader = options[:output], do: " | #{reader}", else: ""
    script = "{ #{input}; } 2>/dev/null | #{command} 2>#{quoted(stderr)}#{output}"

    port =
      Port.open({:spawn_executable, "/bin/sh"}, [
        :binary,
        :exit_status,
        {:line, 64 * 1024 * 1024},
        {:args, ["-c", script]},
        {:cd, options[:cd] || File.cwd!()},
        {:env, for({name, value} <- options[:env] || [], do: {to_charlist(name), value != nil && to_charlist(value)})}
      ])

    Process.put({__MODULE__, port}, WireSchema.new())
    %__MODULE__{port: port, stderr: stderr}
  end

  @doc "Starts a VM and waits for its first response, so that tests do not measure the start."
  def serving(context, options \\ []) do
    peer = start(vm(options[:serve] || @serve), tmp_dir: context.tmp_dir)
    write(peer, call("up", "echo", %{"text" => "up"}))
    %{"id" => "up"} = read(peer)
    peer
  end

  @doc "The text of a tool's result."
  def text(%{"result" => %{"content" => [%{"text" => text}]}}), do: text

  @doc "Milliseconds since an earlier `since(0)`."
  def since(milliseconds), do: System.monotonic_time(:millisecond) - milliseconds

  @doc "The shell command that waits until a file exists."
  def until_exists(file), do: "until [ -e #{quoted(file)} ]; do sleep 0.1; done"

  # `ioctl` tells how many bytes of a pipe are unread. The limit ends the command if nobody reads.
  @pieces ~S[$| = 1; $seconds = shift; for (@ARGV) { print; $n = 100 * $seconds; ] <>
            ~S[do { select undef, undef, undef, 0.01; ioctl STDOUT, 0x541B, $unread = pack "i", 0 } ] <>
            ~S[while unpack "i", $unread and --$n }]

  @doc "The shell command that writes pieces to a pipe, and waits after each until it was read, or so many seconds."
  def in_pieces(pieces, seconds \\ 30),
    do: Enum.join(["perl -e", quoted(@pieces), seconds | Enum.map(pieces, &quoted/1)], " ")

  @doc "Quotes text for the shell."
  def quoted(text), do: "'" <> String.replace(text, "'", "'\\''") <> "'"

  @doc "The line of a request."
  def request(id, method, params \\ %{}),
    do: JSON.encode!(%{"jsonrpc" => "2.0", "id" => id, "method" => method, "params" => params})

  @doc "The line of a tool call that needs no session."
  def call(id, name, arguments \\ %{}) do
    request(id, "tools/call", %{
      "name" => name,
      "arguments" => arguments,
      "_meta" => %{
        "io.modelcontextprotocol/protocolVersion" => "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities" => %{}
      }
    })
  end

  @doc "The line of an `initialize` request."
  def initialize(id, revision \\ "2025-06-18", capabilities \\ %{}) do
    info = %{"name" => "peer", "version" => "1"}
    request(id, "initialize", %{"protocolVersion" => revision, "capabilities" => capabilities, "clientInfo" => info})
  end

  @doc "Writes lines."
  def write(peer, lines) do
    for line <- List.wrap(lines), do: watch(peer, {:in, line})
    Port.command(peer.port, for(line <- List.wrap(lines), do: [line, ?\n]))
    peer
  end

  @doc "Writes bytes unchanged."
  def write_raw(peer, bytes), do: Port.command(peer.port, bytes)

  @doc "Closes the server's stdin."
  def eof(peer), do: write_raw(peer, "__eof__\n")

  @doc "The next message."
  def read(peer, timeout \\ 30_000) do
    line = line(peer, timeout)
    watch(peer, {:out, line})
    {:ok, message} = JSON.decode(line)
    message
  end

  @doc "The next line, unchecked."
  def line(%{port: port} = peer, timeout \\ 30_000) do
    receive do
      {^port, {:data, {:eol, line}}} -> line
      {^port, {:exit_status, status}} -> raise "the server has exited with #{status}: #{errors(peer)}"
    after
      timeout -> raise "nothing within #{timeout} ms; stderr: #{errors(peer)}"
    end
  end

  @doc "The next message, for requests that were not sent with `write/2` and cannot be matched."
  def message(peer, timeout \\ 30_000) do
    {:ok, message} = JSON.decode(line(peer, timeout))
    message
  end

  @doc "The server's exit status. A line before it is an error."
  def exit_status(%{port: port} = peer, timeout \\ 30_000) do
    receive do
      {^port, {:exit_status, status}} -> status
      {^port, {:data, line}} -> raise "unexpected line: #{inspect(line)}"
    after
      timeout -> raise "still running after #{timeout} ms; stderr: #{errors(peer)}"
    end
  end

  @doc "The server's stderr so far."
  def errors(peer), do: with({:error, _reason} <- File.read(peer.stderr), do: {:ok, ""}) |> elem(1)

  defp watch(peer, event) do
    key = {__MODULE__, peer.port}
    Process.put(key, WireSchema.see(Process.get(key), event))
  end
end
