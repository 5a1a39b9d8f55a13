defmodule McpServer.Presentation.Lookup do
  @moduledoc false
  # A tool that returns one thing by its id. `McpServer.Presentation.lookup/3` documents it.

  alias McpServer.Dispatch.Failure
  alias McpServer.{Fields, Presentation}
  alias McpServer.Presentation.{NeedsInput, Output, Question, ToolError}

  @options Fields.table(
             [
               kind: [:string, required: true],
               find: [:any, required: true],
               payload: :any,
               markdown: :any,
               cards: :count,
               similar: :any,
               nouns: :any,
               id: :string,
               format: :string,
               conn: :any
             ],
             "option"
           )

  @doc false
  @spec run(Presentation.t(), map, keyword) :: Presentation.result()
  def run(view, arguments, options) do
    options = Map.merge(%{nouns: {"item", "items"}, id: "id"}, Fields.gather!("lookup/3", @options, options))
    arguments = if options[:conn], do: NeedsInput.answers(options.conn, arguments), else: arguments

    case Output.format(options[:format] || arguments["format"]) do
      {:ok, {format, _markdown?, _json?}} -> find(view, arguments[options.id], format, options)
      {:error, failure} -> {:ok, ToolError.present(failure, view, [])}
    end
  end

  defp find(view, id, format, options) do
    id = if is_binary(id), do: id, else: ""
    found = if Question.blank?(id), do: :error, else: options.find.(id)

    case found do
      {:ok, thing} -> {:ok, present(view, thing, format, options)}
      none when none in [:error, nil, {:error, :not_found}] -> ask(view, id, format, options)
      {:error, reason} -> {:ok, reason |> ToolError.from() |> ToolError.present(view, format: format)}
    end
  end

  defp present(view, thing, format, options) do
    payload = if make = options[:payload], do: make.(thing), else: thing
    markdown = if render = options[:markdown], do: fn -> render.(thing) end
    Output.present(view, options.kind, payload, format: format, markdown: markdown, cards: options[:cards])
  end

  defp ask(view, id, format, options) do
    similar = if options[:similar] && not Question.blank?(id), do: similar(options.similar, id), else: []

    options.nouns
    |> Question.unknown_id(options.id, id, similar)
    |> NeedsInput.ask(view, format: format, conn: options[:conn])
  end

  # Similar ids are optional: if the function fails, the question is asked without them.
  defp similar(function, id) do
    case function.(id) do
      ids when is_list(ids) -> if texts?(ids), do: ids, else: none(Failure.invalid(ids))
      other -> none(Failure.invalid(other))
    end
  catch
    kind, reason -> none(Failure.new(kind, reason, __STACKTRACE__))
  end

  defp texts?(ids), do: Enum.all?(ids, &(is_binary(&1) and String.valid?(&1)))

  defp none(failure) do
    Failure.log(failure, "similar: of a presentation")
    []
  end
end
