defmodule McpServer.HttpSecretsLog do
  # Everything that is logged while a test runs: unchanged log events, with reports and metadata, and terms that a test
  # adds. It has reports of supervisors too, which Logger drops since Elixir 1.15.
  @moduledoc false

  import ExUnit.Callbacks, only: [on_exit: 1]

  alias McpServer.TestLog

  @doc "Captures the log until the test ends."
  @spec start() :: :ets.tid()
  def start do
    table = :ets.new(:said, [:public])
    %{filters: filters} = :logger.get_primary_config()
    :ok = :logger.set_primary_config(:filters, [])
    finish = TestLog.subscribe(&keep(table, &1))

    on_exit(fn ->
      finish.()
      :logger.set_primary_config(:filters, filters)
    end)

    table
  end

  defp keep(table, event) do
    note_text(table, whole(event) <> (event |> :logger_formatter.format(%{}) |> IO.chardata_to_string()))
  rescue
    # The test has ended, and its table with it.
    ArgumentError -> :ok
  end

  @doc "Adds a term with all fields of its structs."
  @spec note(:ets.tid(), term()) :: true
  def note(table, term), do: note_text(table, whole(term))

  defp note_text(table, text), do: :ets.insert(table, {make_ref(), text})

  defp whole(term), do: inspect(term, structs: false, limit: :infinity, printable_limit: :infinity)

  @doc "The captured texts."
  @spec said(:ets.tid()) :: [String.t()]
  def said(table), do: for({_reference, text} <- :ets.tab2list(table), do: text)
end
