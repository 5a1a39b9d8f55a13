defmodule McpServer.FaultRouter.Schemas do
  # The most expensive schemas, with the instances that the tests send.
  @moduledoc false

  @levels 20

  # Each level checks the next one twice: 2^20 checks of one value.
  def lattice do
    steps = for n <- 0..(@levels - 1), into: %{}, do: {"d#{n}", %{"anyOf" => [reference(n + 1), reference(n + 1)]}}
    definitions = Map.put(steps, "d#{@levels}", %{"type" => "integer"})
    %{"type" => "object", "properties" => %{"value" => reference(0)}, "$defs" => definitions}
  end

  defp reference(n), do: %{"$ref" => "#/$defs/d#{n}"}

  # These patterns take exponential time in backtracking engines.
  def expressions,
    do: %{"nested" => "^(a+)+$", "alternatives" => "^(a|a)*$", "classes" => "^(([a-z])+.)+[A-Z]([a-z])+$"}

  def patterns do
    properties =
      for {name, pattern} <- expressions(), into: %{}, do: {name, %{"type" => "string", "pattern" => pattern}}

    %{"type" => "object", "properties" => properties}
  end

  def texts, do: of_items(%{"items" => %{"type" => "string"}})
  def unique, do: of_items(%{"items" => %{"type" => "object"}, "uniqueItems" => true})

  defp of_items(schema), do: %{"type" => "object", "properties" => %{"items" => Map.put(schema, "type", "array")}}
end

defmodule McpServer.FaultRouter do
  # Tools that fail in every possible way, tools with hostile schemas, and a tool that returns the figures of its VM.
  # Tests and stress scripts start it in separate VMs.
  @moduledoc false
  use McpServer.Router, name: "faults", debug_errors: false

  alias McpServer.FaultRouter.{Handlers, Schemas}

  @any %{"type" => "object"}

  tool "echo", "Gives its arguments back", Handlers, :echo, input_schema: @any
  tool "figures", "What is left in the VM", Handlers, :figures
  tool "peak", "The most memory the VM has had, in KiB", Handlers, :peak
  tool "sleep", "Takes its time", Handlers, :sleep, input_schema: @any

  # `how` names the failure.
  tool "fail", "Ends without an answer", Handlers, :fail, input_schema: @any
  tool "garbage", "Answers with nothing a tool may answer with", Handlers, :garbage, input_schema: @any
  tool "large", "Answers with as much text as it is told to", Handlers, :large, input_schema: @any
  tool "greedy", "Takes memory until it is stopped", Handlers, :greedy

  tool "parent", "Who has started it", Handlers, :parent

  tool "hang", "Never answers", Handlers, :hang, timeout: 100
  tool "spin", "Works for ever", Handlers, :spin, timeout: 100

  tool "progress", "Reports progress, from wherever it is told to", Handlers, :report, input_schema: @any
  tool "ask", "Asks for a name", Handlers, :ask
  tool "flood", "Floods its connection", Handlers, :flood, input_schema: @any
  tool "spawn", "Starts processes that nobody is linked to", Handlers, :spawn, input_schema: @any
  tool "reap", "Ends them", Handlers, :reap
  tool "puts", "Prints where it should not", Handlers, :puts
  tool "twist", "Turns everything of its process around", Handlers, :twist
  tool "halt", "Halts the VM", Handlers, :halt

  tool "lattice", "Asks the same question in 2^20 ways", Handlers, :echo, input_schema: Schemas.lattice()
  tool "patterns", "Matches texts", Handlers, :echo, input_schema: Schemas.patterns()
  tool "texts", "Takes texts only", Handlers, :called, input_schema: Schemas.texts()

  tool "unique", "Takes different things only", Handlers, :echo,
    input_schema: Schemas.unique(),
    lint: [ignore: [:array_items]]

  prompt "echo", "Gives its argument back", completion: false do
    argument "text", "Any text"
    get Handlers, :prompt
  end

  resource "row", "faults://rows/{id}" do
    description "Gives the variable back"
    read Handlers, :read
  end
end

defmodule McpServer.FaultRouter.Handlers do
  @moduledoc false
  use McpServer.Controller

  alias McpServer.Invariant

  require Logger

  def echo(_conn, arguments), do: {:ok, [text(McpServer.JSON.encode!(arguments))]}

  # The log line shows that no schema has refused the call.
  def called(conn, arguments) do
    Logger.error("the handler was called")
    echo(conn, arguments)
  end

  def figures(_conn, _arguments), do: {:ok, [text(McpServer.JSON.encode!(Invariant.figures()))]}
  def prompt(_conn, arguments), do: [message("user", Map.get(arguments, "text", ""))]
  def read(_conn, %{"id" => id}), do: content("row", "faults://rows", text: id)

  def peak(_conn, _arguments) do
    [_, kibibytes] = Regex.run(~r/VmHWM:\s+(\d+) kB/, File.read!("/proc/self/status"))
    {:ok, [text(kibibytes)]}
  end

  def sleep(_conn, %{"ms" => ms}) do
    Process.sleep(ms)
    {:ok, [text("slept")]}
  end

  def fail(_conn, %{"how" => how}), do: fail(how)

  defp fail("raise"), do: raise("secret 42")
  defp fail("throw"), do: throw("secret 42")
  defp fail("exit"), do: exit("secret 42")
  defp fail("error of 10 MB"), do: :erlang.error({:big, String.duplicate("secret 42", 1_200_000)})
  defp fail("shutdown"), do: exit(:shutdown)
  defp fail("kill"), do: Process.exit(self(), :kill)

  defp fail("kill a linked process") do
    spawn_link(fn -> Process.exit(self(), :kill) end)
    Process.sleep(:infinity)
  end

  defp fail("kill what it is linked to") do
    {:links, links} = Process.info(self(), :links)
    for pid <- links ++ Process.get(:"$ancestors", []), is_pid(pid), do: Process.exit(pid, :kill)
    exit(:shutdown)
  end

  defp fail("kill its parent") do
    {:parent, parent} = Process.info(self(), :parent)
    Process.exit(parent, :kill)
    Process.sleep(:infinity)
  end

  def parent(_conn, _arguments) do
    {:parent, parent} = Process.info(self(), :parent)
    {:ok, [text(inspect(parent))]}
  end

  @deep 1_000_000

  def garbage(_conn, %{"how" => how}), do: garbage(how)

  defp garbage("nil"), do: nil
  defp garbage("pid"), do: {:ok, [self()]}
  defp garbage("improper list"), do: {:ok, [text("a") | :tail]}
  defp garbage("not UTF-8"), do: {:ok, [text(<<255>>)]}
  defp garbage("not UTF-8, structured"), do: {:ok, %{"text" => <<0xC3>>}}
  defp garbage("not a number"), do: {:ok, %{"value" => :erlang.make_ref()}}
  defp garbage("struct"), do: {:ok, ~D[2020-01-01]}
  defp garbage("{:ok}"), do: {:ok}
  defp garbage("five elements"), do: {1, 2, 3, 4, 5}
  defp garbage("a function"), do: {:ok, %{"value" => &nested/1}}
  defp garbage("1,000,000 deep"), do: {:ok, %{"deep" => nested(@deep)}}
  defp garbage("maps 1,000,000 deep"), do: {:ok, Enum.reduce(1..@deep, %{}, fn _n, inner -> %{"a" => inner} end)}

  defp nested(levels), do: Enum.reduce(1..levels, [], fn _n, inner -> [inner] end)

  def large(_conn, %{"bytes" => bytes}), do: {:ok, [text(String.duplicate("x", bytes))]}
  def greedy(_conn, _arguments), do: {:ok, Enum.to_list(1..100_000_000)}

  def hang(_conn, _arguments), do: Process.sleep(:infinity)
  def spin(conn, arguments), do: spin(conn, arguments)

  def report(conn, %{"from" => "itself", "count" => count}) do
    for n <- 1..count, do: progress(conn, n)
    {:ok, [text("#{count}")]}
  end

  def report(conn, %{"from" => "another process", "count" => count}) do
    fn -> for n <- 1..count, do: progress(conn, n) end |> Task.async() |> Task.await(:infinity)
    {:ok, [text("#{count}")]}
  end

  # The spawned process waits for the end of the call, and reports progress then.
  def report(conn, %{"from" => "the past", "count" => count}) do
    call = self()

    spawn(fn ->
      reference = Process.monitor(call)
      receive do: ({:DOWN, ^reference, _type, _pid, _reason} -> for(n <- 1..count, do: progress(conn, n)))
    end)

    {:ok, [text("0")]}
  end

  # The call is cancelled. The spawned process goes on reporting, and logs the return values.
  def report(conn, %{"from" => "a cancelled call", "count" => count}) do
    call = self()

    spawn(fn ->
      reference = Process.monitor(call)
      :ok = progress(conn, 1)
      Logger.error("the call reports")
      receive do: ({:DOWN, ^reference, _type, _pid, reason} -> Logger.error("the call has ended: #{inspect(reason)}"))
      answers = for n <- 2..count, do: progress(conn, n)
      Logger.error("reported #{length(answers)} times: #{inspect(Enum.uniq(answers))}")
    end)

    Process.sleep(:infinity)
  end

  @form %{"type" => "object", "properties" => %{"name" => %{"type" => "string"}}}

  def ask(conn, _arguments) do
    case accepted(conn, "name") do
      %{"name" => name} -> {:ok, [text("Hello, #{name}!")]}
      nil -> input_required(name: elicit("Your name?", @form))
    end
  end

  def flood(conn, %{"count" => count}) do
    for n <- 1..count, do: send(conn.call.connection, {:flood, n})
    {:ok, [text("flooded")]}
  end

  def spawn(_conn, %{"count" => count}) do
    Process.flag(:trap_exit, true)

    pids =
      for _n <- 1..count do
        spawn(fn ->
          Process.flag(:trap_exit, true)
          receive do: (:reap -> :ok)
        end)
      end

    :persistent_term.put(__MODULE__, pids)
    {:ok, [text("#{Enum.count(pids, &Process.alive?/1)}")]}
  end

  def reap(_conn, _arguments) do
    pids = :persistent_term.get(__MODULE__)
    alive = Enum.count(pids, &Process.alive?/1)
    for pid <- pids, do: send(pid, :reap)
    :persistent_term.erase(__MODULE__)
    {:ok, [text("#{alive}")]}
  end

  def puts(_conn, _arguments) do
    IO.puts("stray: puts")
    IO.binwrite(:stdio, "stray: binwrite\n")
    :io.format(:user, ~c"stray: format~n", [])
    :erlang.display(:"stray: display")
    {:ok, [text("printed")]}
  end

  def twist(_conn, _arguments) do
    Process.flag(:trap_exit, true)
    Process.flag(:priority, :low)
    Process.flag(:message_queue_data, :off_heap)
    Process.flag(:max_heap_size, 0)
    Process.group_leader(self(), Process.whereis(:init))
    Process.put(:"$callers", [])
    Process.register(self(), __MODULE__)
    {:ok, [text("twisted")]}
  end

  def halt(_conn, _arguments), do: :erlang.halt(3, flush: false)
end
