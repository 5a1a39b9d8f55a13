defmodule McpServer.Breaking do
  @moduledoc """
  Finds changes of a router that break its clients. `mix mcp.breaking` compares a router with a snapshot under version
  control. These are its two functions, for a test:

      test "no client breaks" do
        {:ok, changes} = McpServer.Breaking.compare(File.read!("priv/mcp/MyApp.MCP.json"), MyApp.MCP)
        assert Enum.filter(changes, &(&1.level == :breaking)) == []
      end

  A tool may accept more or return less than before, but it must not accept less or return more.
  `McpServer.Schema.Relation` decides whether a schema still accepts what it accepted. If it cannot decide, the change
  is `:unknown`, never `:compatible`.

  Descriptions and titles are in the snapshot, to be read when it changes, and are not compared. Lists that a router
  computes itself (`list_tools/1` and its like) are not in it: only what is declared is data.

  ## Changes

  | field | |
  |---|---|
  | `:level` | `:breaking`: what worked may not work any more; `:unknown`: that could not be found out; `:compatible`: what worked still does |
  | `:code` | what kind of change it is, such as `"input_narrowed"`; the codes are stable |
  | `:kind` | `"tool"`, `"prompt"`, `"resource"` or `"resource template"` |
  | `:name` | the name of that; the URI of a resource, the text of a template |
  | `:message` | what has changed |
  | `:reasons` | where two schemas differ, as far as that says something |
  | `:example` | as JSON, arguments that were accepted and no longer are, or a result that may come now and could not; `nil` where none was found |
  """

  alias McpServer.{Catalog, Native}
  alias McpServer.Breaking.Change

  @typedoc "The table of changes says what each field holds."
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
  What clients can rely on of a router, as JSON with sorted keys, a line for each member.

  Raises `ArgumentError` when the module is no router.
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
  How a router differs from a snapshot: tools, prompts, resources, templates, each by name; what is new comes last
  of its kind.

  The error says why the text is no snapshot. Raises `ArgumentError` when the module is no router.
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
