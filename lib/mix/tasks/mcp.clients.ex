defmodule Mix.Tasks.Mcp.Clients do
  @shortdoc "Lists the clients that mix mcp.install supports"

  @moduledoc """
  Lists the clients that `mix mcp.install` supports, and their files on this machine.

      mix mcp.clients

  A file that does not exist yet is shown as missing; `mix mcp.install` creates it.
  """

  use Mix.Task

  alias McpServer.Install.{Place, Table}

  @usage "usage: mix mcp.clients"

  @impl true
  def run(arguments) do
    {[], []} = with {_options, [_ | _]} <- Mix.McpServer.options!(arguments, [], @usage), do: Mix.raise(@usage)
    machine = Place.here()
    for client <- Table.all(), do: IO.puts([client.id, " – ", client.name | files(client, machine)])
    :ok
  end

  defp files(client, machine) do
    for scope <- [:user, :project], {:ok, path} <- [Place.file(client, scope, machine)] do
      missing = if File.exists?(path), do: "", else: " (missing)"
      ["\n  ", Atom.to_string(scope), ": ", path, missing]
    end
  end
end
