defmodule McpServer.ArchitectureTest do
  # The dependencies of ARCHITECTURE.md and the invariants of the whole library, read from the compiled modules.
  use ExUnit.Case, async: true

  alias McpServer.{Catalog, Connection, JSON, Options, Protocol, ServerOptions}

  defmodule Handlers do
    def run(_conn, _arguments), do: {:ok, []}
  end

  defmodule Server do
    use McpServer.Router

    tool "run", "Runs", Handlers, :run do
      input_field "count", "How often", :integer, required: true
    end
  end

  # ExUnit's handlers come and go, and two at once lose lines. `McpServer.TestLog` has one that stays.
  test "tests read the log with McpServer.TestLog" do
    reads = ~r/^ *(import|alias|require) ExUnit\.CaptureLog/m
    files = Path.wildcard(Path.expand("**/*.{ex,exs}", __DIR__))
    assert for(file <- files, File.read!(file) =~ reads, do: Path.relative_to(file, __DIR__)) == []
  end

  # Other tests log meanwhile: a test asks for its own lines, or uses `own_log`.
  test "no test expects that nothing at all is logged" do
    silence = ~r/((?<!own_|_)log(ged\(\))?|capture_log\(.*\)|with_log\(.*\)) == ""/

    lines =
      for file <- Path.wildcard(Path.expand("**/*.{ex,exs}", __DIR__)),
          line <- file |> File.read!() |> String.split("\n"),
          line =~ silence,
          do: {Path.relative_to(file, __DIR__), String.trim(line)}

    assert lines == []
  end

  # Earlier, the examples of two modules were never run.
  test "every example of the documentation is run" do
    # What is typed into a shell of an application.
    shown = ["McpServer", "McpServer.Generator.Phoenix", "McpServer.IEx", "McpServer.Router"]

    run =
      for file <- Path.wildcard(Path.expand("**/*_test.exs", __DIR__)),
          [_line, module] <- Regex.scan(~r/^ *doctest\(?\s*([\w.]+)/m, File.read!(file)),
          do: module

    examples =
      for file <- Path.wildcard("lib/**/*.ex"),
          text = File.read!(file),
          text =~ ~r/^ *iex> /m,
          [_line, module] = Regex.run(~r/^defmodule ([\w.]+) do/m, text),
          # A test may have an alias of it.
          not Enum.any?(run, &(module == &1 or String.ends_with?(module, "." <> &1))),
          do: module

    assert Enum.sort(examples) == Enum.sort(shown)
  end

  # Maps a module to the functions of other modules that it calls.
  defp calls do
    {:ok, modules} = :application.get_key(:mcp_server, :modules)

    for module <- modules, into: %{} do
      {:ok, {^module, [imports: imports]}} = module |> :code.which() |> :beam_lib.chunks([:imports])
      {module, imports}
    end
  end

  defp lib?(module),
    do: module |> apply(:module_info, [:compile]) |> Keyword.get(:source, ~c"") |> to_string() =~ "/lib/"

  defp below?(module, room), do: module == room or String.starts_with?(inspect(module), inspect(room) <> ".")

  @tag slow: "reads every module of the library"
  test "invariant 2: only the façades and the private ends of transports call the native library" do
    callers = for {module, imports} <- calls(), {McpServer.Native, _function, _arity} <- imports, uniq: true, do: module

    assert Enum.sort(callers -- [McpServer.Native]) == [
             McpServer.Breaking,
             McpServer.DualResponse.Rest.Endpoint,
             McpServer.JSON,
             McpServer.Lint,
             McpServer.Native.Dirty,
             McpServer.Presentation.Text,
             McpServer.Protocol,
             McpServer.Protocol.Auth,
             McpServer.Protocol.HTTP,
             McpServer.Schema.Relation,
             McpServer.Schema.Validator,
             McpServer.Stdio.Reader
           ]
  end

  @tag slow: "reads every module of the library"
  test "invariant 3: no module of the library makes atoms of text that it was given" do
    made = [
      {:erlang, :binary_to_atom, 1},
      {:erlang, :binary_to_atom, 2},
      {:erlang, :list_to_atom, 1},
      {String, :to_atom, 1},
      {Module, :concat, 1},
      {Module, :concat, 2}
    ]

    makers = for {module, imports} <- calls(), lib?(module), call <- imports, call in made, uniq: true, do: module

    # These run while a router compiles, or a task or a server starts: the text is the developer's. A protocol looks for the
    # implementation of a struct's module, which is already an atom.
    assert makers --
             [
               Mix.McpServer,
               McpServer.DualResponse.SessionStore,
               McpServer.JSON.Encoder,
               McpServer.Router.Access,
               McpServer.Router.Arguments,
               McpServer.Router.ToolHandler,
               McpServer.Tool.Result
             ] == []
  end

  # M27: terms that come back from clients or shared stores create no atoms either.
  @tag slow: "reads every module of the library"
  test "invariant 3: terms of other makers are read without atoms or functions of theirs" do
    read = [{:erlang, :binary_to_term, 1}]
    readers = for {module, imports} <- calls(), lib?(module), call <- imports, call in read, do: module

    # These modules read only terms that no other node can write.
    assert Enum.sort(readers) == [
             McpServer.DualResponse.Creation,
             McpServer.DualResponse.Store.ETS,
             # What a node of the cluster has packed itself.
             McpServer.Tasks,
             McpServer.Tasks.Entry
           ]
  end

  # Invariant 7. `:infinity` must be set explicitly, where it is allowed.
  @tag slow: "reads every module of the library"
  test "invariant 7: no option is without end by default" do
    {:ok, modules} = :application.get_key(:mcp_server, :modules)

    endless =
      for module <- modules,
          lib?(module),
          function_exported?(module, :__struct__, 0),
          {field, :infinity} <- Map.from_struct(module.__struct__()),
          do: {module, field}

    assert endless == []

    attribute = ~r/^\s*@(?!spec|type|doc|moduledoc|callback)\w+ .*:infinity|^\s+\w+: :infinity,?$/m
    said = for file <- Path.wildcard("lib/**/*.ex"), File.read!(file) =~ attribute, do: file
    assert said == []
  end

  test "arrows run downwards only" do
    transports = [
      McpServer.Stdio,
      McpServer.Http,
      McpServer.HttpServer,
      McpServer.HttpPlug,
      McpServer.HttpRequest,
      McpServer.Connection
    ]

    objects = [McpServer.Tool, McpServer.Prompt, McpServer.Resource, McpServer.Router, McpServer.Dispatch]
    above_values = transports ++ [McpServer.Dispatch, McpServer.Call, McpServer.Session, McpServer.Catalog]

    # Maps a room to the rooms above it, which it must not depend on.
    rooms = %{
      McpServer.JSON => above_values ++ [McpServer.Protocol, McpServer.Router],
      McpServer.Protocol => transports ++ [McpServer.Dispatch, McpServer.Call, McpServer.Session],
      McpServer.Router => transports ++ [McpServer.Dispatch, McpServer.Call, McpServer.Session],
      McpServer.Catalog => transports ++ [McpServer.Dispatch, McpServer.Call, McpServer.Session],
      McpServer.Tool => above_values,
      McpServer.Prompt => above_values,
      McpServer.Resource => above_values,
      McpServer.Completion => above_values,
      # It uses only the request from HTTP: a sink, or the exchange that answers it.
      McpServer.DualResponse.Rest =>
        (transports -- [McpServer.Http, McpServer.HttpRequest]) ++ (objects -- [McpServer.Dispatch]),
      McpServer.Content => above_values,
      McpServer.App => above_values,
      # From dispatch they use only the logging of failures.
      McpServer.Envelope => above_values -- [McpServer.Dispatch],
      McpServer.Presentation => above_values -- [McpServer.Dispatch],
      McpServer.Session => transports ++ [McpServer.Dispatch, McpServer.JSON],
      McpServer.Dispatch => transports,
      McpServer.Stdio => objects,
      # Both servers use this room, so it is below them. From dispatch it uses only the logging of failures.
      McpServer.Http => [McpServer.HttpServer, McpServer.HttpPlug, McpServer.Stdio | objects -- [McpServer.Dispatch]],
      McpServer.HttpServer => [McpServer.HttpPlug, McpServer.Stdio | objects],
      McpServer.HttpPlug => [McpServer.HttpServer, McpServer.Stdio, McpServer.Connection | objects]
    }

    upwards =
      for {module, imports} <- calls(),
          {room, forbidden} <- rooms,
          below?(module, room),
          {callee, function, arity} <- imports,
          Enum.any?(forbidden, &below?(callee, &1)),
          do: "#{inspect(module)} calls #{inspect(callee)}.#{function}/#{arity}"

    assert upwards == []
  end

  @tag slow: "reads every module of the library"
  test "the path of the protocol names no envelope, presentation or dual response" do
    path = [
      McpServer.Connection,
      McpServer.Dispatch,
      McpServer.Call,
      McpServer.Catalog,
      McpServer.Router,
      McpServer.Http,
      McpServer.HttpServer,
      McpServer.HttpPlug,
      McpServer.Stdio,
      McpServer.Session,
      McpServer.Tasks,
      McpServer.Tool,
      McpServer.Protocol
    ]

    guests = [McpServer.Envelope, McpServer.Presentation, McpServer.DualResponse]
    {:ok, modules} = :application.get_key(:mcp_server, :modules)

    named =
      for module <- modules,
          Enum.any?(path, &below?(module, &1)),
          # An implementation for a guest belongs to the guest.
          not String.starts_with?(inspect(module), "McpServer.Tool.Result."),
          {:ok, {^module, [atoms: atoms]}} = module |> :code.which() |> :beam_lib.chunks([:atoms]),
          {_index, atom} <- atoms,
          Enum.any?(guests, &below?(atom, &1)),
          do: {module, atom}

    assert named == []
  end

  test "invariant 6: a refused message starts no process and builds no term but its answer" do
    catalog = Catalog.fetch(Server)

    refused = [
      "",
      "{",
      ~s({"jsonrpc":"2.0","id":1}),
      ~s({"jsonrpc":"2.0","id":1,"method":"no/such"}),
      ~s({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"other","arguments":{"x":[1,2,3]}}}),
      ~s({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","arguments":{"count":"x"}}})
    ]

    for line <- refused do
      assert {:reply, answer} = Protocol.admit(catalog, %{revision: "2025-11-25"}, line)
      assert is_binary(answer)
    end

    bounds = ServerOptions.bounds(Options.check!("Server", ServerOptions.stdio(), router: Server))
    transport = {McpServer.ArchitectureTest.Sink, self()}
    {:ok, connection} = Connection.start_link(router: Server, transport: transport, bounds: bounds)
    :erlang.trace(connection, true, [:procs])
    send(connection, {:lines, refused})
    for _line <- refused, do: assert_receive({:written, _message}, 5_000)
    delivered = :erlang.trace_delivered(connection)
    assert_receive {:trace_delivered, ^connection, ^delivered}
    refute_received {:trace, ^connection, :spawn, _pid, _function}
    GenServer.stop(connection)
  end

  test "invariant 8: the same input gives the same bytes, whatever order it was built in" do
    pairs = for n <- 1..100, do: {"key#{n}", n}
    texts = for _ <- 1..20, uniq: true, do: pairs |> Enum.shuffle() |> Map.new() |> JSON.encode!()
    assert [text] = texts
    keys = Regex.scan(~r/"(key\d+)"/, text, capture: :all_but_first) |> List.flatten()
    assert keys == Enum.sort(keys)

    atoms = JSON.encode!(%{b: 1, a: 2, c: 3})
    assert atoms == ~s({"a":2,"b":1,"c":3})
    assert JSON.encode!(%{"a" => 2, "b" => 1, "c" => 3}) == atoms
  end

  defmodule Sink do
    # A transport that sends the written data to a process.
    use McpServer.Connection.OneStream

    defstruct [:owner]

    @impl true
    def open(owner), do: {:ok, %__MODULE__{owner: owner}}
    @impl true
    def name, do: :test
    @impl true
    def credit(_transport, _wait_us), do: []
    @impl true
    def event(transport, {:lines, lines}), do: {[{:lines, lines}], transport}
    def event(_transport, _message), do: :unknown
    @impl true
    def write(transport, entries) do
      for message <- McpServer.Connection.Transport.messages(entries), do: send(transport.owner, {:written, message})
      {:ok, transport}
    end

    @impl true
    def closed(_transport, _reason), do: :ok
  end
end
