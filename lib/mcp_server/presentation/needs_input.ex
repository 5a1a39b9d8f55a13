defmodule McpServer.Presentation.NeedsInput do
  @moduledoc """
  A question back to the caller instead of a failure: `needsInput:v1`.

      iex> question = McpServer.Presentation.NeedsInput.new(message: "Which one?", fields: :id, reason: "It is needed")
      iex> McpServer.Presentation.NeedsInput.payload(question)
      %{
        "type" => "elicitation",
        "message" => "Which one?",
        "needsInput" => %{"fields" => ["id"], "reason" => "It is needed"}
      }

  ## Forms

  With `conn:` the question becomes a form for clients that can show forms (capability `elicitation`). The handler is
  called again with the same arguments, and `answers/2` adds the user's input to them:

      def search(conn, arguments) do
        arguments = NeedsInput.answers(conn, arguments)
        …
        Presentation.needs_input(View, message: "What for?", fields: "q", reason: "…", conn: conn)
      end

  If the user does not fill in the form, the result is the question as data. The same holds for clients that cannot show
  forms, and for all clients without `conn:`.
  """

  alias McpServer.{Conn, Controller, Fields, Presentation}
  alias McpServer.Presentation.{Output, Question}

  @type option :: %{required(String.t()) => String.t()}

  use Fields,
    message: [:string, required: true, doc: "the question, for a person"],
    fields: [:any, required: true, type: [String.t()], doc: "the missing arguments, or one of them"],
    reason: [:string, required: true, doc: "why they are needed"],
    suggestions: [
      :any,
      type: %{String.t() => [String.t()]},
      doc: ~s(values that would do, by field: `%{"q" => ["error handling"]}`)
    ],
    options: [
      :list,
      type: [option],
      doc:
        "values to choose from: maps of `label`, `value`, `description` and `field`; grouped by field, in the order of `fields`"
    ],
    markdown: [:any, type: iodata, doc: "the question as Markdown; default: the message"]

  @option Fields.table(label: :string, value: [:string, required: true], description: :string, field: :any)

  @doc """
  Builds a question. Raises `ArgumentError` naming the field at fault: suggestions are keyed by field, and an
  option has a value.
  """
  def new(given) do
    question = super(given)
    fields = question.fields |> List.wrap() |> Enum.map(&to_string/1)

    %{
      question
      | fields: fields,
        suggestions: suggestions!(question.suggestions),
        options: options(question.options, fields)
    }
  end

  defp suggestions!(nil), do: nil

  defp suggestions!(suggestions) do
    unless is_map(suggestions) or Keyword.keyword?(suggestions) do
      raise ArgumentError, "suggestions are keyed by field: %{\"q\" => [\"elixir\"]}"
    end

    Map.new(suggestions, fn {field, values} ->
      unless is_list(values) and Enum.all?(values, &is_binary/1) do
        raise ArgumentError, "the suggestions for #{field} are a list of texts"
      end

      {to_string(field), Enum.uniq(values)}
    end)
  end

  defp options(nil, _fields), do: nil

  defp options(options, fields) do
    # In the order of the fields. Options without a field come last.
    options
    |> Enum.map(&option/1)
    |> Enum.uniq()
    |> Enum.sort_by(fn option -> Enum.find_index(fields, &(&1 == option["field"])) || length(fields) end)
  end

  defp option(given) do
    option = Fields.gather!("an option", @option, given)
    option = Map.put_new(option, :label, option.value)
    Map.new(option, fn {key, value} -> {Atom.to_string(key), to_string(value)} end)
  end

  @doc "The question as a map with the keys of `needsInput:v1`."
  @spec payload(t) :: map
  def payload(%__MODULE__{} = question) do
    needed = put(%{"fields" => question.fields, "reason" => question.reason}, "suggestions", question.suggestions)

    put(%{"type" => "elicitation", "message" => question.message, "needsInput" => needed}, "options", question.options)
  end

  defp put(map, _key, nil), do: map
  defp put(map, _key, []), do: map
  defp put(map, key, value), do: Map.put(map, key, value)

  @doc """
  The arguments together with the user's input from a form. A handler that passes `conn:` to a question calls this
  first.
  """
  @spec answers(Conn.t(), map) :: map
  def answers(%Conn{} = conn, arguments) do
    {answers, _asked} = earlier(conn)
    arguments |> Map.merge(answers) |> Map.merge(filled_in(conn))
  end

  @doc false
  @spec ask(t, Presentation.t(), keyword) :: Presentation.result()
  def ask(%__MODULE__{} = question, view, options) do
    {conn, options} = Keyword.pop(options, :conn)
    if form?(question, conn), do: form(question, conn), else: {:ok, present(question, view, options)}
  end

  defp present(question, view, options) do
    options = [markdown: question.markdown || question.message] ++ options
    Output.present(view, "needsInput:v1", payload(question), options)
  end

  defp form?(_question, nil), do: false

  defp form?(question, conn) do
    {_answers, asked} = earlier(conn)
    Controller.supports?(conn, :elicitation) and key(question) not in asked
  end

  # Clients return only the answers to the last question, so the state keeps the earlier ones. A question is asked only
  # once. If the user fills in nothing, the response is the data of the question.
  defp form(question, conn) do
    {answers, asked} = earlier(conn)
    key = key(question)
    state = {__MODULE__, Map.merge(answers, filled_in(conn)), [key | asked]}
    Controller.input_required(%{key => Controller.elicit(question.message, form_schema(question))}, state: state)
  end

  defp key(question), do: Enum.join(question.fields, ",")

  defp earlier(%Conn{state: {__MODULE__, answers, asked}}), do: {answers, asked}
  defp earlier(_conn), do: {%{}, []}

  defp filled_in(conn) do
    {_answers, asked} = earlier(conn)

    for key <- Enum.take(asked, 1),
        {field, value} <- Controller.accepted(conn, key) || %{},
        field in String.split(key, ","),
        is_binary(value) and not Question.blank?(value),
        into: %{},
        do: {field, value}
  end

  defp form_schema(question) do
    properties = Map.new(question.fields, &{&1, field_schema(question, &1)})
    %{"type" => "object", "properties" => properties}
  end

  defp field_schema(question, field) do
    case for(%{"field" => ^field, "value" => value} <- question.options || [], uniq: true, do: value) do
      [] -> described(%{"type" => "string"}, question, Map.get(question.suggestions || %{}, field, []))
      values -> %{"type" => "string", "enum" => values}
    end
  end

  defp described(schema, question, []), do: Map.put(schema, "description", question.reason)

  defp described(schema, _question, values),
    do: Map.put(schema, "description", "For example: " <> Enum.join(values, ", "))
end
