defmodule McpServer.TelemetryStandIn do
  # Replaces the package `:telemetry`, which may be missing: one function gets every event. While it is loaded, no other
  # test that emits events may run.
  @moduledoc false

  import ExUnit.Callbacks, only: [on_exit: 1, start_supervised!: 1, stop_supervised!: 1]

  @table :telemetry_handler_table

  @type handler :: ([atom()], map(), map() -> term())

  @doc "Loads the module until the test ends."
  @spec load(handler()) :: :ok
  def load(handler) do
    handle(handler)
    # The started package has this process.
    start_supervised!(%{id: @table, start: {Agent, :start_link, [fn -> nil end, [name: @table]]}})

    create(
      :telemetry,
      quote do
        def execute(event, measurements, metadata) do
          for :handler <- unquote(__MODULE__).attached(event),
              do: :persistent_term.get(unquote(__MODULE__)).(event, measurements, metadata)

          :ok
        end
      end
    )

    create(@table, quote(do: def(list_for_event(event), do: unquote(__MODULE__).attached(event))))

    on_exit(fn ->
      for module <- [:telemetry, @table] do
        :code.delete(module)
        :code.purge(module)
      end

      :persistent_term.erase(__MODULE__)
      :persistent_term.erase({__MODULE__, :events})
    end)
  end

  defp create(module, functions),
    do: {:module, ^module, _binary, _result} = Module.create(module, functions, Macro.Env.location(__ENV__))

  @doc false
  def attached(event) do
    events = :persistent_term.get({__MODULE__, :events}, :all)
    if events == :all or event in events, do: [:handler], else: []
  end

  @doc "Pretends that only these events have handlers."
  @spec attach_only([[atom()]]) :: :ok
  def attach_only(events), do: :persistent_term.put({__MODULE__, :events}, events)

  @doc "Pretends that the package is present, but not started."
  @spec stop() :: :ok
  def stop, do: stop_supervised!(@table)

  @doc "Sends all further events to another function."
  @spec handle(handler()) :: :ok
  def handle(handler), do: :persistent_term.put(__MODULE__, handler)
end
