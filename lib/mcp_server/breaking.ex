defmodule McpServer.Breaking do
  @moduledoc """
  Finds changes of a router that break its clients. `mix mcp.breaking` compares a router with a snapshot under version
  control. A test can call its two functions:

      test "no client breaks" do
        {:ok, changes} = McpServer.Breaking.compare(File.read!("priv/mcp/MyApp.MCP.json"), MyApp.MCP)
        assert Enum.filter(changes, &(&1.level == :breaking)) == []
      end

  A tool may accept more or return less than before, but it must not accept less or return more.
  `McpServer.Schema.Relation` decides whether a schema still accepts what it accepted. If it cannot decide, the change
  is `:unknown`, never `:compatible`.

  The snapshot contains descriptions and titles for readers of its diff; they are not compared. It does not contain
  lists that a router computes (`list_tools/1` and similar), only declarations.

  ## Changes

  | field | |
  |---|---|
  | `:level` | `:breaking`: clients may fail; `:unknown`: could not be decided; `:compatible`: clients still work |
  | `:code` | the kind of change, such as `"input_narrowed"`; the codes are stable |
  | `:kind` | `"tool"`, `"prompt"`, `"resource"` or `"resource template"` |
  | `:name` | the name of the entry; the URI of a resource, the URI template of a template |
  | `:message` | a description of the change |
  | `:reasons` | the places where two schemas differ, if they explain the change |
  | `:example` | as JSON, arguments that are no longer accepted, or a result that was impossible before; `nil` if none was found |
  """

  alias McpServer.{Catalog, Native}
  alias McpServer.Breaking.Change

  @typedoc "See the table of changes."
  @type change :: %Change{
          level: :breaking | :unknown | :compatible,
          code: String.t(),
          kind: String.t(),
          name: String.t(),
          message: String.t(),
          reasons: [String.t()],
          example: String.t() | nil
        }

  @doc """
  The parts of a router that clients rely on, as JSON with sorted keys and a line for each member.

  Raises `ArgumentError` if the module is not a router.
  """
  @spec snapshot(module) :: String.t()
  def snapshot(router) do
    with {:ok, definition} <- Catalog.definition(router), {:ok, text} <- Native.catalog_snapshot(definition) do
      text
    else
      {:error, message} -> raise ArgumentError, "#{inspect(router)} has no snapshot: #{message}"
    end
  end

  @doc """
  The differences between a router and a snapshot: tools, prompts, resources, templates, each by name; new entries come
  last.

  The error says why the snapshot is invalid. Raises `ArgumentError` if the module is not a router.
  """
  @spec compare(String.t(), module) :: {:ok, [change]} | {:error, String.t()}
  def compare(snapshot, router) when is_binary(snapshot) do
    with {:ok, changes} <- Native.catalog_compare(snapshot, snapshot(router)) do
      {:ok, Enum.map(changes, &struct!(Change, %{&1 | level: level(&1.level)}))}
    end
  end

  defp level("breaking"), do: :breaking
  defp level("unknown"), do: :unknown
  defp level("compatible"), do: :compatible
end
