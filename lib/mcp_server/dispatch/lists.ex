defmodule McpServer.Dispatch.Lists do
  @moduledoc false
  # Lists that are not the same for every client: the functions of the router say what this one may know of, and the
  # core has the page, or makes it, from what was encoded once for all.

  alias McpServer.{Catalog, Conn, Protocol, Request}
  alias McpServer.Dispatch.{Answer, Permission, RunTimeTool}

  @doc "Whether the request is for such a list."
  @spec filtered?(Catalog.t(), Request.t()) :: boolean()
  def filtered?(%Catalog{filtered: filtered}, %Request{kind: kind}), do: kind in filtered

  # Tools that were put while the server runs.
  defp more(%{run_time_tools?: true} = catalog, %{kind: :list_tools}, conn), do: RunTimeTool.listed(catalog, conn)
  defp more(_catalog, _request, _conn), do: {[], ""}

  @doc "The answer."
  @spec run(Catalog.t(), Request.t(), Conn.t()) :: Answer.t()
  def run(catalog, request, conn) do
    case Protocol.granted_list(catalog, request, Permission.grant(catalog, conn), more(catalog, request, conn)) do
      {:ok, reply} -> {:ok, reply}
      {:error, answer} -> Answer.finished(answer)
    end
  end
end
