defmodule McpServer.Dispatch.Budget do
  @moduledoc false
  # A tool's `result_budget:`. A larger answer goes to the router's `McpServer.Tool.Overflow`, and its shortened result
  # is sent.

  alias McpServer.{Catalog, Conn, Request}
  alias McpServer.Dispatch.{Answer, Handler, Outcome}
  alias McpServer.Tool.CallResult

  @refusal "The result is too large to be sent at once, and could not be kept"

  @typedoc "A normalized result and its encoded answer."
  @type answered :: {Outcome.t(), Answer.t()}

  @doc "The result and answer within the tool's budget. `returned` is the handler's original result."
  @spec fit(answered(), Catalog.t(), Request.t(), Conn.t(), term) :: answered()
  def fit({{:ok, %CallResult{} = result}, {:ok, reply}} = answered, catalog, %{kind: :tool} = request, conn, returned) do
    case Handler.entry(catalog, request) do
      %{result_budget: nil} -> answered
      tool -> fit(answered, IO.iodata_length(reply), tool, {catalog, request, conn, {returned, result}})
    end
  end

  def fit(answered, _catalog, _request, _conn, _returned), do: answered

  defp fit(answered, bytes, %{result_budget: budget}, _call) when bytes <= budget, do: answered

  # A quarter of the budget is for rows as text, a quarter for rows as data, the rest for the fixed parts.
  defp fit(answered, bytes, %{result_budget: budget} = tool, {catalog, request, conn, {returned, result}}) do
    {module, argument} = catalog.router.__mcp__(:overflow)
    room = div(budget, 4)
    overflow = %{tool: tool.name, returned: returned, result: result, bytes: bytes, small: div(room, 2)}

    case module.store(argument, conn, overflow) do
      {:ok, stored} -> shorten({module, stored}, room, tool, {catalog, request})
      :leave -> answered
      {:error, _reason} -> {{:error, @refusal}, Answer.refusal(catalog, request, @refusal)}
    end
  end

  defp shorten({module, stored}, room, tool, {catalog, request}) do
    outcome = {:ok, module.result(stored, room, tool.keeps_data?)}
    {_outcome, reply} = answer = Answer.encode(catalog, request, outcome)

    # Long names can exceed the budget too. Without rows only the link remains.
    if room > 0 and IO.iodata_length(reply) > tool.result_budget,
      do: shorten({module, stored}, 0, tool, {catalog, request}),
      else: {outcome, answer}
  end
end
