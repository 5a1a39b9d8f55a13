defmodule McpServer.Dispatch.Budget do
  @moduledoc false
  # A tool's `result_budget:`: a result whose answer is larger is kept by the router's dual response server, and
  # what goes out is a part of it and the link.

  alias McpServer.{Catalog, Conn, DualResponse, Request}
  alias McpServer.Dispatch.{Answer, Handler, Outcome}
  alias McpServer.DualResponse.{Response, Spill}
  alias McpServer.Tool.CallResult

  @refusal "The result is too large to be sent at once, and could not be kept"

  @typedoc "What was returned, in one shape, and the answer that it became."
  @type answered :: {Outcome.t(), Answer.t()}

  @doc "The same within the tool's budget; `returned` is what the handler gave."
  @spec fit(answered(), Catalog.t(), Request.t(), Conn.t(), term) :: answered()
  # This is what the link is for: there is nothing to be spilled a second time.
  def fit(answered, _catalog, _request, _conn, {:ok, %Response{}}), do: answered

  def fit({{:ok, %CallResult{} = result}, {:ok, reply}} = answered, catalog, %{kind: :tool} = request, conn, _returned) do
    case Handler.entry(catalog, request) do
      %{result_budget: nil} -> answered
      tool -> fit(answered, IO.iodata_length(reply), tool, {catalog, request, conn, result})
    end
  end

  def fit(answered, _catalog, _request, _conn, _returned), do: answered

  defp fit(answered, bytes, %{result_budget: budget}, _call) when bytes <= budget, do: answered

  # A quarter for rows as text, a quarter for rows as data, the rest for what has to be said in any case.
  defp fit(_answered, bytes, %{result_budget: budget} = tool, {catalog, request, conn, result}) do
    server = catalog.router.__mcp__(:dual_responses)
    room = div(budget, 4)

    case Spill.keep(server, conn, tool.name, result, bytes, div(room, 2)) do
      {:ok, spill} -> shorten(spill, room, tool, {catalog, request})
      {:error, %DualResponse.Error{}} -> {{:error, @refusal}, Answer.refusal(catalog, request, @refusal)}
    end
  end

  defp shorten(spill, room, tool, {catalog, request}) do
    outcome = {:ok, Spill.result(spill, room, tool.keeps_data?)}
    {_outcome, reply} = answer = Answer.encode(catalog, request, outcome)

    # Names can be long as well. What is left without any row is the link.
    if room > 0 and IO.iodata_length(reply) > tool.result_budget,
      do: shorten(spill, 0, tool, {catalog, request}),
      else: {outcome, answer}
  end
end
