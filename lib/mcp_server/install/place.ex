defmodule McpServer.Install.Place do
  @moduledoc false
  # The path of a client's file on this machine.

  alias McpServer.Install.Table

  @type os :: :linux | :darwin | :windows

  @typedoc "The facts about the machine that determine paths."
  @type machine :: %{
          os: os(),
          home: Path.t(),
          env: (String.t() -> String.t() | nil),
          project: Path.t()
        }

  @doc "The facts about this machine."
  @spec here() :: machine()
  def here do
    %{os: os(:os.type()), home: System.user_home!(), env: &System.get_env/1, project: File.cwd!()}
  end

  defp os({:win32, _name}), do: :windows
  defp os({:unix, :darwin}), do: :darwin
  defp os(_unix), do: :linux

  @doc "The path of a client's file in a scope, or that there is none."
  @spec file(Table.client(), :user | :project, machine()) :: {:ok, Path.t()} | :none
  def file(%{project: nil}, :project, _machine), do: :none
  def file(%{project: path}, :project, machine), do: {:ok, Path.join(machine.project, path)}
  def file(%{user: nil}, :user, _machine), do: :none

  def file(%{user: user}, :user, machine) do
    case for path <- Map.get(user, machine.os, []), do: path |> Enum.map(&base(&1, machine)) |> Path.join() do
      [] -> :none
      paths -> {:ok, Enum.find(paths, hd(paths), &File.exists?/1)}
    end
  end

  defp base(:home, machine), do: machine.home
  defp base(:config, machine), do: base({"XDG_CONFIG_HOME", ".config"}, machine)
  defp base(:appdata, machine), do: base({"APPDATA", "AppData/Roaming"}, machine)
  defp base(:support, machine), do: Path.join(machine.home, "Library/Application Support")
  defp base(part, _machine) when is_binary(part), do: part

  defp base({variable, default}, machine) do
    case machine.env.(variable) do
      path when path in [nil, ""] -> Path.join(machine.home, default)
      path -> path
    end
  end
end
