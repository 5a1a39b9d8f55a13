defmodule McpServer.Native.LibraryTest do
  # Y6: a missing or wrong native library is reported at the application's start; a library that is loaded already
  # stays. Each test uses a separate VM.
  use ExUnit.Case, async: true

  @moduletag slow: "each test starts a VM"

  import McpServer.HttpCase, only: [eventually: 1]

  alias McpServer.{CodeReload, HttpClient, HttpPeer, HttpRequests, HttpVm, StdioPeer}

  @moduletag :tmp_dir

  @recompile "`mix deps.compile mcp_server --force`"

  # The output of starting the application with another native library, or without one for `nil`.
  defp started(context, library, script \\ "") do
    app = Path.join(context.tmp_dir, "mcp_server")
    native = Path.join(app, "priv/native")
    File.mkdir_p!(native)
    File.ln_s!(StdioPeer.ebin(), Path.join(app, "ebin"))
    if library, do: File.write!(Path.join(native, "mcp_nif.so"), library)

    expression = script <> "IO.inspect(Application.ensure_all_started(:mcp_server), limit: :infinity, width: 1_000)"
    {output, 0} = System.cmd("elixir", ["-pa", Path.join(app, "ebin"), "-e", expression], stderr_to_stdout: true)
    {output, Path.join(native, "mcp_nif.so")}
  end

  defp library, do: File.read!("#{McpServer.Native.Library.path()}.so")

  defp assert_wrong(context, library, script \\ "") do
    {output, file} = started(context, library, script)
    assert output =~ "{:error, {:mcp_server, {\"the native library of mcp_server does not load: #{file} was built for "
    assert output =~ "for another machine, or for another version of mcp_server; compile it here with #{@recompile}"
  end

  @tag req: "Y6"
  test "it is missing", context do
    {output, file} = started(context, nil)
    assert output =~ "{:error, {:mcp_server, {\"the native library of mcp_server is missing: there is no #{file}; "
    assert output =~ "compile it with #{@recompile}"
  end

  @tag req: "Y6"
  test "it is none", context do
    assert_wrong(context, "not a library")
  end

  @tag req: "Y6"
  test "it is of another architecture", context do
    # The bytes of an ELF header that name the machine: here RISC-V.
    <<head::binary-size(18), _machine::binary-size(2), rest::binary>> = library()
    assert_wrong(context, head <> <<243, 0>> <> rest)
  end

  @tag req: "Y6"
  test "its end is missing, were it one byte", context do
    library = library()

    for {bytes, n} <- Enum.with_index([byte_size(library) - 1, div(byte_size(library), 2), 64]) do
      cut = %{context | tmp_dir: Path.join(context.tmp_dir, "#{n}")}
      {output, file} = started(cut, binary_part(library, 0, bytes))
      assert output =~ "{:error, {:mcp_server, {\"the native library of mcp_server is cut short: "
      assert output =~ "the end of #{file} is missing; compile it with #{@recompile}"
    end
  end

  @tag req: "Y6"
  test "it is of another version", context do
    source = File.read!("lib/mcp_server/native/library.ex")
    other = String.replace(source, "Mix.Project.config()[:version]", ~s("0.0.9"))
    assert other != source
    File.write!(Path.join(context.tmp_dir, "library.ex"), other)
    assert_wrong(context, library(), ~s|Code.compile_file("#{context.tmp_dir}/library.ex"); |)
  end

  @tag req: "Y6"
  test "that of this version starts", context do
    {output, _file} = started(context, library())
    assert output =~ "{:ok, ["
  end

  @tag req: "Y6"
  test "while the VM runs a new one is refused, the old one goes on, and all other code may be new (5 cycles of 1,000)" do
    vm = HttpVm.start()
    echo = fn text -> HttpClient.text(HttpClient.call(vm.server, "echo", %{"text" => text})) end

    for n <- 1..5 do
      assert echo.("#{n}") == "#{n}"
      assert HttpVm.call(vm, CodeReload, :native, [1]) == [{{:error, :on_load_failure}, true, false}]
      assert %{loaded: loaded, held: 0} = HttpVm.call(vm, CodeReload, :modules, [1])
      assert loaded > 100
    end

    assert echo.("still") == "still"
  end

  @tag req: "Y6"
  test "deleted and purged when no server runs, it is loaded again (5 times of 1,000)" do
    vm = HttpVm.start()
    assert HttpClient.text(HttpClient.call(vm.server, "echo", %{"text" => "x"})) == "x"
    assert HttpVm.call(vm, HttpVm, :stop_serving, []) == :ok
    assert HttpVm.call(vm, CodeReload, :unload_native, [5]) == :ok
    assert HttpVm.call(vm, McpServer.JSON, :decode, ["[1]"]) == {:ok, [1]}
  end

  @tag req: "Y6"
  test "purged under a listener that waits or works, the VM lives, and the server is back after a restart (5 times)" do
    vm = HttpVm.start()

    for n <- 1..5 do
      # Idle connections from before the reload, and running calls.
      waiting = for _ <- 1..8, do: HttpPeer.connect(vm.server.port)
      for peer <- waiting, do: assert(HttpPeer.request(peer, echo()).status == 200)
      working = if rem(n, 2) == 0, do: for(_ <- 1..4, do: Task.async(fn -> until_served(vm.server.port) end)), else: []

      assert HttpVm.call(vm, CodeReload, :purge_native, []) == :ok
      for peer <- waiting, do: assert(ask(peer) in [200, 500, 503, :cut])
      for peer <- waiting, do: HttpPeer.close(peer)

      assert Task.await_many([Task.async(fn -> until_served(vm.server.port) end) | working], :infinity) |> Enum.uniq() ==
               [200]
    end

    assert HttpVm.call(vm, McpServer.JSON, :decode, ["[1]"]) == {:ok, [1]}
  end

  defp echo, do: HttpRequests.modern_call("echo", %{"text" => "x"})

  defp ask(peer) do
    HttpPeer.request(peer, echo()).status
  rescue
    _cut in [MatchError, RuntimeError] -> :cut
  end

  # Waits until twenty successive requests get 200.
  defp until_served(port, served \\ 0)
  defp until_served(_port, 20), do: 200

  defp until_served(port, served) do
    case ask_anew(port) do
      200 -> until_served(port, served + 1)
      _other -> until_served(port, 0)
    end
  end

  defp ask_anew(port) do
    peer = HttpPeer.connect(port)
    status = ask(peer)
    HttpPeer.close(peer)
    status
  rescue
    _refused in MatchError -> :refused
  end

  @tag req: "Y6"
  test "the log says that a new one has to wait for a restart", %{tmp_dir: tmp_dir} do
    # The log is written asynchronously, after the call, so the VM waits for the end of its stdin.
    expression =
      "{:ok, _} = Application.ensure_all_started(:mcp_server); {:error, _} = :code.load_file(McpServer.Native); " <>
        "IO.read(:eof)"

    peer = StdioPeer.start("{ #{StdioPeer.vm(expression)} >&2; }", tmp_dir: tmp_dir)
    warning = "is not replaced while the VM runs: the old one goes on; restart"
    eventually(fn -> peer |> StdioPeer.errors() |> String.split() |> Enum.join(" ") =~ warning end)
    assert StdioPeer.errors(peer) =~ "[warning]"
    StdioPeer.eof(peer)
    assert StdioPeer.exit_status(peer) == 0
  end
end
