defmodule Stress.Upgrade do
  @moduledoc """
  Y6: code is reloaded, softly purged and purged a thousand times while clients send requests.

  The native library cannot be replaced while the VM runs: a new version is refused, and the old version stays. All
  other modules can be replaced.
  """

  alias McpServer.{CodeReload, HttpClient, HttpVm, JSON}
  alias Stress.Report

  @clients 4

  def run(short?) do
    cycles = if short?, do: 20, else: 1_000
    # Each reload loads hundreds of modules.
    reloads = if short?, do: 5, else: cycles
    vm = HttpVm.launch()
    {native, asked} = under_load(vm, fn -> HttpVm.call(vm, CodeReload, :native, [cycles]) end)
    Report.line("native library", ["#{cycles} cycles", "#{asked.right} calls", "#{asked.wrong} wrong"])
    {modules, asked_too} = under_load(vm, fn -> reload(vm, reloads) end)

    Report.line("other modules", [
      "#{modules.loaded} loaded",
      "#{modules.held} held",
      "#{asked_too.right} calls",
      "#{asked_too.wrong} wrong"
    ])

    # The threads of a server would not survive this, so the server is stopped first, as in SECURITY.md.
    HttpVm.call(vm, HttpVm, :stop_serving, [])
    unloaded = HttpVm.call(vm, CodeReload, :unload_native, [cycles])
    lives? = unloaded == :ok and HttpVm.call(vm, JSON, :decode, ["[1]"]) == {:ok, [1]}
    HttpVm.stop(vm)

    [
      {"Y6: #{cycles} times the new library is refused and the old one goes on",
       native == [{{:error, :on_load_failure}, true, false}] and asked.wrong == 0 and asked.right > 0},
      {"Y6: #{reloads} times the other modules are loaded anew, and each call is answered",
       modules.loaded > 0 and asked_too.wrong == 0 and asked_too.right > 0},
      {"Y6: without a server the library is deleted and purged #{cycles} times, and works again", lives?}
    ]
  end

  # In portions, because a call into the VM has a time limit.
  defp reload(vm, cycles) do
    for _ <- 1..cycles, reduce: %{loaded: 0, held: 0} do
      sum -> Map.merge(sum, HttpVm.call(vm, CodeReload, :modules, [1]), fn _name, one, other -> one + other end)
    end
  end

  defp under_load(vm, fun) do
    clients = for n <- 1..@clients, do: Task.async(fn -> ask(vm, "client #{n}", %{right: 0, wrong: 0}) end)
    result = fun.()
    for client <- clients, do: send(client.pid, :enough)
    counts = Task.await_many(clients, :infinity)
    {result, Enum.reduce(counts, &Map.merge(&1, &2, fn _name, one, other -> one + other end))}
  end

  defp ask(vm, text, counts) do
    receive do
      :enough -> counts
    after
      0 ->
        name = if right?(vm, text), do: :right, else: :wrong
        ask(vm, text, Map.update!(counts, name, &(&1 + 1)))
    end
  end

  defp right?(vm, text), do: HttpClient.text(HttpClient.call(vm.server, "echo", %{"text" => text})) == text
end
