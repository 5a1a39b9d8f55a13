defmodule McpServer.Dispatch.InvalidResult do
  @moduledoc false
  # The log text for a result that cannot be sent: the function or the plug that made it, its outline and the allowed
  # results.

  alias McpServer.{Catalog, InputRequired, JSON, Outline, Request}
  alias McpServer.Dispatch.{Around, Failure, Handler}
  alias McpServer.JSON.EncodeError
  alias McpServer.Tool.{CallResult, Result}

  @allowed %{
    tool: ~S'A tool returns {:ok, "text"}, {:ok, [text("hello")]}, {:ok, %{…}} or {:error, "text"}.',
    prompt: ~S'A prompt returns {:ok, "text"}, {:ok, [message("user", "hello")]} or {:error, "text"}.',
    resource: ~S'A resource returns content("name", "uri", text: "hello"), {:error, :not_found} or {:error, "text"}.',
    completion: ~S'A completion returns ["value"], completion(["value"]) or {:error, "text"}.',
    list: ~S'A list function returns {:ok, [item, …]} or {:error, "text"}.'
  }

  # Rows of a database are the usual list that is no content.
  @rows " Put data into a map: {:ok, %{rows: rows}}."

  # The allowed results follow the outline, and the line is cut at its end.
  @max_outline_bytes 300

  @doc "The failure of a handler whose result has an invalid form, with the `reason` if it is known."
  @spec returned(Catalog.t(), Request.t(), reason :: term(), returned :: term()) :: Failure.t()
  def returned(catalog, request, {Result, reason}, _returned), do: unwritable(catalog, request, reason)

  def returned(catalog, request, _reason, returned) do
    Failure.invalid_result(
      "#{function(catalog, request)} returned #{outline(returned)}. #{@allowed[group(request.kind)]}#{of_struct(request, returned)}"
    )
  end

  defp of_struct(request, {:ok, value}), do: of_struct(request, value)

  defp of_struct(%{kind: :tool}, %module{} = struct) do
    map =
      if match?({:ok, _text}, JSON.encode(struct)),
        do: "Put a struct into a map, such as {:ok, %{found: value}}",
        else: "Put its fields into a map, such as {:ok, Map.take(value, [:id])}"

    " #{map}, or derive McpServer.JSON.Encoder or implement McpServer.Tool.Result for #{inspect(module)}."
  end

  defp of_struct(_request, _value), do: ""

  @doc """
  The failure of a handler whose result the core refuses to encode. `result` is the normalized form of `returned`.
  """
  @spec refused(Catalog.t(), Request.t(), {result :: term(), returned :: term()}, reason :: term()) :: Failure.t()
  def refused(catalog, request, {%CallResult{structured_content: nil}, _returned}, {:output_schema, _problems}) do
    Failure.invalid_result(
      "#{function(catalog, request)} returned no structured content, but tool #{inspect(Handler.name(catalog, request))} " <>
        "declares an output schema. It has to return {:ok, %{…}} with its output fields, or a CallResult with structured_content."
    )
  end

  def refused(catalog, request, _result, {:output_schema, problems}) do
    lines = for problem <- problems, do: Map.get(problem, :message) || Outline.of(problem)

    Failure.invalid_result(
      "what #{function(catalog, request)} returned does not fit the output schema: #{Enum.join(lines, "; ")}"
    )
  end

  def refused(catalog, request, {result, returned}, %EncodeError{kind: kind} = error)
      when kind in [:invalid_field, :missing_field] and not is_struct(result, InputRequired) do
    Failure.invalid_result(
      "#{function(catalog, request)} returned #{outline(returned)}, which cannot be sent: #{text(error)}. " <>
        "#{@allowed[group(request.kind)]}#{rows(request, error)}"
    )
  end

  def refused(catalog, request, _result, reason), do: unwritable(catalog, request, reason)

  @doc "The failure of a handler that returned something with a part that cannot be sent, such as a question."
  @spec unwritable(Catalog.t(), Request.t(), reason :: term()) :: Failure.t()
  def unwritable(catalog, request, reason),
    do: Failure.invalid_result("what #{function(catalog, request)} returned cannot be sent: #{text(reason)}")

  defp rows(%Request{kind: :tool}, %EncodeError{path: ["content", _index]}), do: @rows
  defp rows(_request, _error), do: ""

  defp outline(term) do
    outline = Outline.of(term)
    if byte_size(outline) > @max_outline_bytes, do: String.slice(outline, 0, @max_outline_bytes) <> " …", else: outline
  end

  defp text(reason) when is_binary(reason), do: reason
  defp text(reason) when is_exception(reason), do: Outline.message(reason)
  defp text(reason), do: Outline.of(reason)

  defp function(catalog, request) do
    {module, function, arity} = Handler.function(catalog, request)
    named = Exception.format_mfa(module, function, arity)
    if plug = Around.maker(catalog, request), do: "plug #{inspect(plug)} (around #{named})", else: named
  end

  defp group(:resource_template), do: :resource
  defp group(kind) when kind in [:complete_prompt, :complete_resource], do: :completion
  defp group(kind) when kind in [:tool, :prompt, :resource], do: kind
  defp group(_list), do: :list
end
