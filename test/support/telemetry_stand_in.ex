defmodule McpServer.TelemetryStandIn do
  # In the place of the package `:telemetry`, which need not be there: one function hears of every event. While it is
  # loaded nothing else may run that emits events.
  @moduledoc false

  import ExUnit.Callbacks, only: [on_exit: 1, start_supervised!: 1, stop_supervised!: 1]

  @table :telemetry_handler_table

  @type handler :: ([atom()], map(), map() -> term())

  @doc "Loads it until the test ends."
  @spec load(handler()) :: :ok
  def load(handler) do
    handle(handler)
    # What the package has when it is started.
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

  @doc "As if handlers were attached to these events only."
  @spec attach_only([[atom()]]) :: :ok
  def attach_only(events), do: :persistent_term.put({__MODULE__, :events}, events)

  @doc "As if the package were there, but not started."
  @spec stop() :: :ok
  def stop, do: stop_supervised!(@table)

  @doc "Has another function hear of events from now on."
  @spec handle(handler()) :: :ok
  def handle(handler), do: :persistent_term.put(__MODULE__, handler)
end
