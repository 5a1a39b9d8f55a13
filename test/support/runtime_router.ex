defmodule McpServer.RuntimeRouter do
  # A router whose handlers run the test's function in `assigns: %{run: fun}`.
  @moduledoc false
  use McpServer.Router, name: "runtime", version: "1.2.3"

  alias McpServer.RuntimeRouter.Handlers

  tool "run", "Runs the test's function", Handlers, :run, input_schema: %{"type" => "object"}
  tool "brief", "The same, within 100 ms", Handlers, :run, timeout: 100, input_schema: %{"type" => "object"}

  tool "sampler", "The same, with sampling", Handlers, :run, requires: [:sampling] do
    input_field "seed", "A number", :integer
  end

  tool "sum", "Has structured output", Handlers, :run do
    output_field "sum", "The sum", :integer, required: true
  end

  tool "text", "Takes text", Handlers, :run do
    input_field "text", "Some text", :string, required: true
  end

  prompt "run", "Runs the test's function" do
    argument "name", "A name"
    get Handlers, :run
    complete Handlers, :complete
  end

  resource "fixed", "run://fixed" do
    description "Runs the test's function"
    read Handlers, :run
  end

  resource "row", "run://rows/{id}" do
    description "Runs the test's function"
    read Handlers, :run
    complete Handlers, :complete
  end
end

defmodule McpServer.RuntimeRouter.Handlers do
  @moduledoc false

  def run(conn, arguments), do: conn.assigns.run.(conn, arguments)
  def complete(conn, name, prefix), do: conn.assigns.run.(conn, {name, prefix})
end

defmodule McpServer.StdioRouter do
  # The router that tests of the stdio transport start in a separate VM.
  @moduledoc false
  use McpServer.Router, name: "stdio"

  alias McpServer.StdioRouter.Handlers

  tool "echo", "Gives the text back", Handlers, :echo do
    input_field "text", "Any text", :string, required: true
  end

  tool "sleep", "Takes its time", Handlers, :sleep do
    input_field "ms", "Milliseconds", :integer, required: true
  end

  tool "puts", "Prints where it should not", Handlers, :puts
  tool "die", "Ends badly", Handlers, :die

  tool "ask", "Asks for a name", Handlers, :ask
  tool "peak", "The most memory the VM has had, in KiB", Handlers, :peak
  tool "pid", "The process of the operating system", Handlers, :pid

  tool "touch", "Makes a file, which tells a shell that the VM is up", Handlers, :touch do
    input_field "file", "Its path", :string, required: true
  end

  tool "await", "Waits until a file exists", Handlers, :await do
    input_field "file", "Its path", :string, required: true
  end

  tool "crash", "A process of its own crashes, and something is warned of", Handlers, :crash
end

defmodule McpServer.StdioRouter.Handlers do
  @moduledoc false
  require Logger
  import McpServer.Controller

  def echo(_conn, %{"text" => text}), do: {:ok, [text(text)]}

  def sleep(_conn, %{"ms" => ms}) do
    Process.sleep(ms)
    {:ok, [text("slept #{ms}")]}
  end

  def puts(_conn, _arguments) do
    IO.puts("stray: puts")
    IO.puts(:user, "stray: user")
    :io.format(:user, ~c"stray: format~n", [])
    IO.binwrite(:stdio, "stray: binwrite\n")
    :erlang.display(:"stray: display")
    Logger.debug("stray: debug")
    Logger.error("stray: error")
    {:ok, [text("printed")]}
  end

  def die(_conn, _arguments), do: Process.exit(self(), :kill)
  def pid(_conn, _arguments), do: {:ok, [text(System.pid())]}

  def touch(_conn, %{"file" => file}) do
    File.touch!(file)
    {:ok, [text("touched")]}
  end

  def await(conn, %{"file" => file} = arguments) do
    if File.exists?(file) do
      {:ok, [text("waited")]}
    else
      Process.sleep(10)
      await(conn, arguments)
    end
  end

  def crash(_conn, _arguments) do
    {pid, reference} = spawn_monitor(fn -> raise "stray: crash" end)
    receive do: ({:DOWN, ^reference, :process, ^pid, _reason} -> :ok)
    IO.warn("stray: warning", [])
    {:ok, [text("crashed")]}
  end

  def peak(_conn, _arguments) do
    [_, kibibytes] = Regex.run(~r/VmHWM:\s+(\d+) kB/, File.read!("/proc/self/status"))
    {:ok, [text(kibibytes)]}
  end

  def ask(conn, _arguments) do
    case accepted(conn, "name") do
      %{"name" => name} ->
        {:ok, [text("Hello, #{name}!")]}

      nil ->
        input_required(
          name: elicit("Your name?", %{"type" => "object", "properties" => %{"name" => %{"type" => "string"}}})
        )
    end
  end
end
