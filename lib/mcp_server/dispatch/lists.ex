defmodule McpServer.Dispatch.Lists do
  @moduledoc false
  # Lists that differ between clients. The router's functions decide which entries this client may see. The core builds
  # or reuses the page from entries that were encoded once for all clients.

  alias McpServer.{Catalog, Conn, Protocol, Request}
  alias McpServer.Dispatch.{Answer, Permission, RunTimeTool}

  @doc "Whether the request is for a list that differs between clients."
  @spec filtered?(Catalog.t(), Request.t()) :: boolean()
  def filtered?(%Catalog{filtered: []}, _request), do: false
  def filtered?(%Catalog{filtered: filtered}, %Request{kind: kind}), do: kind in filtered

  # Tools that were added at run time.
  defp more(%{run_time_tools?: true} = catalog, %{kind: :list_tools}, conn), do: RunTimeTool.listed(catalog, conn)
  defp more(_catalog, _request, _conn), do: {[], ""}

  @doc "The answer to a request for a filtered list."
  @spec run(Catalog.t(), Request.t(), Conn.t()) :: Answer.t()
  def run(catalog, request, conn) do
    case Protocol.granted_list(catalog, request, Permission.grant(catalog, conn), more(catalog, request, conn)) do
      {:ok, reply} -> {:ok, reply}
      {:error, answer} -> Answer.finished(answer)
    end
  end
end
