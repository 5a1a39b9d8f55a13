defmodule McpServer.Dispatch.NearestClause do
  @moduledoc false
  # The clause of a function that came nearest to a call that none of its clauses matched. It is the author's code, and
  # shows none of the caller's data.

  @max_characters 300

  @doc "A sentence about the clause, for development: it reads the debug information of the module. `nil` without any."
  @spec of(term(), Exception.stacktrace()) :: String.t() | nil
  def of(reason, stacktrace) do
    with %FunctionClauseError{} = exception <- Exception.normalize(:error, reason, stacktrace),
         {%{clauses: [_ | _] = clauses} = blamed, _stacktrace} <- Exception.blame(:error, exception, stacktrace) do
      nearest = Enum.max_by(clauses, &matched/1)
      "The nearest clause is #{cut(written(blamed.function, nearest))}"
    else
      _unknown -> nil
    end
  end

  # The first of several that are equally near.
  defp matched({arguments, guards}), do: Enum.count(arguments ++ guards, &matched?/1)

  defp matched?(%{match?: match?}), do: match?
  defp matched?({_operator, _meta, operands}) when is_list(operands), do: Enum.all?(operands, &matched?/1)
  defp matched?(_node), do: true

  defp written(function, {arguments, guards}) do
    head = "#{function}(#{Enum.map_join(arguments, ", ", &code/1)})"
    if guards == [], do: head, else: head <> " when " <> Enum.map_join(guards, " when ", &code/1)
  end

  defp code(node), do: node |> plain() |> Macro.to_string()

  defp plain(%{match?: _match?, node: node}), do: node
  defp plain({operator, meta, operands}) when is_list(operands), do: {operator, meta, Enum.map(operands, &plain/1)}
  defp plain(node), do: node

  defp cut(text),
    do: if(String.length(text) <= @max_characters, do: text, else: String.slice(text, 0, @max_characters) <> " …")
end
