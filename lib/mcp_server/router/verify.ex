defmodule McpServer.Router.Verify do
  @moduledoc false
  # What can be said of a router only when everything else has been compiled: whether the functions it
  # names exist, and whether the core can serve it. What it can serve, and clients will refuse, is a warning.

  alias McpServer.Catalog
  alias McpServer.Router.{Handler, LintRules, Refusal}

  @doc "Refuses a router that cannot work, at the declaration's own line."
  @spec verify!(module) :: :ok
  def verify!(router) do
    places = router.__mcp__(:places)
    places |> Enum.flat_map(& &1.handlers) |> Enum.each(&Handler.verify!/1)

    case Catalog.build(router) do
      {:ok, _catalog} -> LintRules.warn(router)
      {:error, message} -> Refusal.refuse!(place(places, message), message)
    end
  end

  # The core names first what it refuses: `tool "add": …`. The router as a whole comes first in the list.
  defp place(places, message) do
    Enum.find(places, hd(places), &String.starts_with?(message, &1.what <> ":")).place
  end
end
