defmodule McpServer.Dispatch.Budget do
  @moduledoc false
  # A tool's `result_budget:`. A larger answer goes to the router's `McpServer.Tool.Overflow`, and its shortened result
  # is sent.

  alias McpServer.Conn
  alias McpServer.Dispatch.{Answer, Outcome}
  alias McpServer.Tasks.Runner
  alias McpServer.Tool.CallResult

  @refusal "The result is too large to be sent at once, and could not be kept"

  @typedoc "A normalized result and its encoded answer."
  @type answered :: {Outcome.t(), Answer.t()}

  @doc "The result and answer within the tool's budget. `returned` is the handler's original result."
  @spec fit(answered(), Runner.call(), Conn.t(), term) :: answered()
  def fit({{:ok, %CallResult{}}, {:ok, reply}} = answered, %{entry: %{result_budget: budget}} = call, conn, returned)
      when budget != nil do
    bytes = IO.iodata_length(reply)
    if bytes <= budget, do: answered, else: store(answered, bytes, call, conn, returned)
  end

  def fit(answered, _call, _conn, _returned), do: answered

  # A quarter of the budget is for rows as text, a quarter for rows as data, the rest for the fixed parts.
  defp store({{:ok, result}, _answer} = answered, bytes, %{entry: tool} = call, conn, returned) do
    {module, argument} = call.catalog.router.__mcp__(:overflow)
    room = div(tool.result_budget, 4)
    overflow = %{tool: tool.name, returned: returned, result: result, bytes: bytes, small: div(room, 2)}

    case module.store(argument, conn, overflow) do
      {:ok, stored} -> shorten({module, stored}, room, call)
      :leave -> answered
      {:error, _reason} -> {{:error, @refusal}, Answer.refusal(call.catalog, call.request, @refusal)}
    end
  end

  defp shorten({module, stored}, room, %{entry: tool} = call) do
    outcome = {:ok, module.result(stored, room, tool.keeps_data?)}
    {_outcome, reply} = answer = Answer.encode(call.catalog, call.request, outcome)

    # Long names can exceed the budget too. Without rows only the link remains.
    if room > 0 and IO.iodata_length(reply) > tool.result_budget,
      do: shorten({module, stored}, 0, call),
      else: {outcome, answer}
  end
end
