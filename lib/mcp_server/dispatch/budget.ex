defmodule McpServer.Dispatch.Budget do
  @moduledoc false
  # A tool's `result_budget:`: a result whose answer is larger is kept by the router's dual response server, and
  # what goes out is a part of it and the link.

  alias McpServer.{Catalog, Conn, DualResponse, Request}
  alias McpServer.Dispatch.{Answer, Handler}
  alias McpServer.DualResponse.{Response, Spill}
  alias McpServer.Tool.CallResult

  @refusal "The result is too large to be sent at once, and could not be kept"

  @doc "The answer to `returned`, which became `outcome` and then `answer`, within the tool's budget."
  @spec fit(Answer.t(), Catalog.t(), Request.t(), Conn.t(), term, term) :: Answer.t()
  # This is what the link is for: there is nothing to be spilled a second time.
  def fit(answer, _catalog, _request, _conn, {:ok, %Response{}}, _outcome), do: answer

  def fit(
        {:ok, reply} = answer,
        catalog,
        %Request{kind: :tool} = request,
        conn,
        _returned,
        {:ok, %CallResult{} = result}
      ) do
    case Handler.entry(catalog, request) do
      %{result_budget: nil} -> answer
      tool -> fit(answer, IO.iodata_length(reply), tool, {catalog, request, conn, result})
    end
  end

  def fit(answer, _catalog, _request, _conn, _returned, _outcome), do: answer

  defp fit(answer, bytes, %{result_budget: budget}, _call) when bytes <= budget, do: answer

  # A quarter for rows as text, a quarter for rows as data, the rest for what has to be said in any case.
  defp fit(_answer, bytes, %{result_budget: budget} = tool, {catalog, request, conn, result}) do
    server = catalog.router.__mcp__(:dual_responses)
    room = div(budget, 4)

    case Spill.keep(server, conn, tool.name, result, bytes, div(room, 2)) do
      {:ok, spill} -> shorten(spill, room, tool, {catalog, request})
      {:error, %DualResponse.Error{}} -> Answer.refusal(catalog, request, @refusal)
    end
  end

  defp shorten(spill, room, tool, {catalog, request}) do
    {_outcome, reply} = answer = Answer.encode(catalog, request, {:ok, Spill.result(spill, room, tool.output?)})

    # Names can be long as well. What is left without any row is the link.
    if room > 0 and IO.iodata_length(reply) > tool.result_budget,
      do: shorten(spill, 0, tool, {catalog, request}),
      else: answer
  end
end
