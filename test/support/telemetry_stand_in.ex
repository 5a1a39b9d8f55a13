defmodule McpServer.TelemetryStandIn do
  # In the place of the package `:telemetry`, which need not be there: one function hears of every event. While it is
  # loaded nothing else may run that emits events.
  @moduledoc false

  import ExUnit.Callbacks, only: [on_exit: 1]

  @type handler :: ([atom()], map(), map() -> term())

  @doc "Loads it until the test ends."
  @spec load(handler()) :: :ok
  def load(handler) do
    handle(handler)
    # What the package has when it is started.
    :ets.new(:telemetry_handler_table, [:named_table])

    {:module, :telemetry, _binary, _result} =
      Module.create(
        :telemetry,
        quote do
          def execute(event, measurements, metadata) do
            :persistent_term.get(unquote(__MODULE__)).(event, measurements, metadata)
            :ok
          end
        end,
        Macro.Env.location(__ENV__)
      )

    on_exit(fn ->
      :code.delete(:telemetry)
      :code.purge(:telemetry)
      :persistent_term.erase(__MODULE__)
    end)
  end

  @doc "Has another function hear of events from now on."
  @spec handle(handler()) :: :ok
  def handle(handler), do: :persistent_term.put(__MODULE__, handler)
end
