defmodule McpServer.HttpSecretsLog do
  # Everything that anybody says while a test runs: log events as they are, with reports and metadata, and what a test
  # notes itself. Supervisors' reports are heard too, which Logger drops since Elixir 1.15.
  @moduledoc false

  import ExUnit.Callbacks, only: [on_exit: 1]

  @doc "Listens until the test ends."
  @spec start() :: :ets.tid()
  def start do
    table = :ets.new(:said, [:public])
    %{filters: filters} = :logger.get_primary_config()
    :ok = :logger.set_primary_config(:filters, [])
    :ok = :logger.add_handler(__MODULE__, __MODULE__, %{level: :all, config: %{table: table}})

    on_exit(fn ->
      :logger.remove_handler(__MODULE__)
      :logger.set_primary_config(:filters, filters)
    end)

    table
  end

  @doc "The handler's callback."
  def log(event, %{config: %{table: table}}) do
    :ets.insert(
      table,
      {make_ref(), whole(event) <> (event |> :logger_formatter.format(%{}) |> IO.chardata_to_string())}
    )
  rescue
    # A test that has ended took its table along.
    ArgumentError -> :ok
  end

  @doc "Notes a term, as its fields are."
  @spec note(:ets.tid(), term()) :: true
  def note(table, term), do: :ets.insert(table, {make_ref(), whole(term)})

  defp whole(term), do: inspect(term, structs: false, limit: :infinity, printable_limit: :infinity)

  @doc "What was said."
  @spec said(:ets.tid()) :: [String.t()]
  def said(table), do: for({_reference, text} <- :ets.tab2list(table), do: text)
end
