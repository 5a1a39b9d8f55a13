defmodule McpServer.Tools.Compiled do
  @moduledoc false
  # The catalogues of the run-time tools that were called last. The texts of all tools are stored, but compiled schemas
  # are many times larger. All principals with the same tool share one catalogue.

  alias McpServer.Catalog

  @max 1_000

  @doc "Makes the table. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(__MODULE__, [:named_table, :public, read_concurrency: true])
    :ok
  end

  @doc "The catalogue of a tool, `:hidden` if it no longer compiles."
  @spec fetch(Catalog.t(), McpServer.Tools.Server.entry()) :: {:ok, Catalog.t()} | :hidden
  def fetch(catalog, %{digest: digest} = entry) do
    key = {catalog.ref, digest}

    case :ets.lookup(__MODULE__, key) do
      [{_key, own}] -> {:ok, own}
      [] -> compile(key, catalog, entry)
    end
  end

  defp compile(key, catalog, entry) do
    case Catalog.of_tool(catalog, entry) do
      {:ok, own} ->
        if :ets.info(__MODULE__, :size) >= @max, do: :ets.delete_all_objects(__MODULE__)
        :ets.insert(__MODULE__, {key, own})
        {:ok, own}

      {:error, _text} ->
        :hidden
    end
  end
end
