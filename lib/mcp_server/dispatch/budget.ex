defmodule McpServer.Dispatch.Budget do
  @moduledoc false
  # A tool's `result_budget:`: a result whose answer is larger goes to the router's `McpServer.Tool.Overflow`, and what
  # that makes of it goes out.

  alias McpServer.{Catalog, Conn, Request}
  alias McpServer.Dispatch.{Answer, Handler, Outcome}
  alias McpServer.Tool.CallResult

  @refusal "The result is too large to be sent at once, and could not be kept"

  @typedoc "What was returned, in one shape, and the answer that it became."
  @type answered :: {Outcome.t(), Answer.t()}

  @doc "The same within the tool's budget; `returned` is what the handler gave."
  @spec fit(answered(), Catalog.t(), Request.t(), Conn.t(), term) :: answered()
  def fit({{:ok, %CallResult{} = result}, {:ok, reply}} = answered, catalog, %{kind: :tool} = request, conn, returned) do
    case Handler.entry(catalog, request) do
      %{result_budget: nil} -> answered
      tool -> fit(answered, IO.iodata_length(reply), tool, {catalog, request, conn, {returned, result}})
    end
  end

  def fit(answered, _catalog, _request, _conn, _returned), do: answered

  defp fit(answered, bytes, %{result_budget: budget}, _call) when bytes <= budget, do: answered

  # A quarter for rows as text, a quarter for rows as data, the rest for what has to be said in any case.
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

    # Names can be long as well. What is left without any row is the link.
    if room > 0 and IO.iodata_length(reply) > tool.result_budget,
      do: shorten({module, stored}, 0, tool, {catalog, request}),
      else: {outcome, answer}
  end
end
