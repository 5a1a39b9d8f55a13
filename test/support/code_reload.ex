defmodule McpServer.CodeReload do
  # Reloads code like an upgrade of the running system, inside the VM that serves.
  @moduledoc false

  @doc "Loads the native module again, then purges old code softly and fully. Returns the distinct results."
  @spec native(pos_integer()) :: [{term(), boolean(), boolean()}]
  def native(times), do: native(McpServer.Native, times)

  defp native(module, times) do
    for _ <- 1..times, uniq: true, do: {:code.load_file(module), :code.soft_purge(module), :code.purge(module)}
  end

  @doc "Loads every other module again, unless a process runs its old code. Returns the number of both outcomes."
  @spec modules(pos_integer()) :: %{loaded: non_neg_integer(), held: non_neg_integer()}
  def modules(times) do
    {:ok, modules} = :application.get_key(:mcp_server, :modules)
    library = for module <- modules -- [McpServer.Native, __MODULE__], from_library?(module), do: module
    outcomes = for _ <- 1..times, module <- library, do: reload(module)
    %{loaded: Enum.count(outcomes, &(&1 == :loaded)), held: Enum.count(outcomes, &(&1 == :held))}
  end

  defp from_library?(module), do: to_string(module.module_info(:compile)[:source]) =~ ~r"/lib/mcp_server"

  defp reload(module) do
    if :code.soft_purge(module) do
      {:module, ^module} = :code.load_file(module)
      :loaded
    else
      :held
    end
  end

  @doc "Deletes the native module and purges it, even if a process runs it."
  @spec purge_native() :: :ok
  def purge_native do
    :code.delete(McpServer.Native)
    :code.purge(McpServer.Native)
    :ok
  end

  @doc "Deletes the native module and purges it, so that the next call loads the library like the first one."
  @spec unload_native(pos_integer()) :: :ok
  def unload_native(times) do
    for _ <- 1..times do
      :ok = purge_native()
      {:ok, [1]} = McpServer.JSON.decode("[1]")
    end

    :ok
  end
end
