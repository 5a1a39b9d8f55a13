defmodule McpServer.Dispatch.InvalidResult do
  @moduledoc false
  # The log text for a handler whose result cannot be sent: its function, the outline of its result and the allowed
  # results.

  alias McpServer.{Catalog, Outline, Request}
  alias McpServer.Dispatch.{Around, Failure, Handler}
  alias McpServer.Tool.{CallResult, Result}

  @allowed %{
    tool: ~S'A tool returns {:ok, "text"}, {:ok, [text("hello")]}, {:ok, %{…}} or {:error, "text"}.',
    prompt: ~S'A prompt returns {:ok, "text"}, {:ok, [message("user", "hello")]} or {:error, "text"}.',
    resource: ~S'A resource returns content("name", "uri", text: "hello"), {:error, :not_found} or {:error, "text"}.',
    completion: ~S'A completion returns ["value"], completion(["value"]) or {:error, "text"}.',
    list: ~S'A list function returns {:ok, [item, …]} or {:error, "text"}.'
  }

  @doc "The failure of a handler whose result has an invalid form, with the `reason` if it is known."
  @spec returned(Catalog.t(), Request.t(), reason :: term(), returned :: term()) :: Failure.t()
  def returned(catalog, request, {Result, reason}, returned),
    do: refused(catalog, request, returned, reason)

  def returned(catalog, request, _reason, returned) do
    Failure.invalid_result(
      "#{function(catalog, request)} returned #{Outline.of(returned)}. #{@allowed[group(request.kind)]}"
    )
  end

  @doc "The failure of a handler whose result the core refuses to encode."
  @spec refused(Catalog.t(), Request.t(), result :: term(), reason :: term()) :: Failure.t()
  def refused(catalog, request, %CallResult{structured_content: nil}, {:output_schema, _problems}) do
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

  def refused(catalog, request, _result, reason) do
    Failure.invalid_result("what #{function(catalog, request)} returned cannot be sent: #{text(reason)}")
  end

  defp text(reason) when is_binary(reason), do: reason
  defp text(reason) when is_exception(reason), do: Outline.message(reason)
  defp text(reason), do: Outline.of(reason)

  defp function(catalog, request) do
    {module, function, arity} = Handler.function(catalog, request)
    Exception.format_mfa(module, function, arity) <> inside(Around.modules(catalog, request))
  end

  # A plug may have made the result.
  defp inside([]), do: ""
  defp inside(plugs), do: " (inside #{plugs |> Enum.uniq() |> Enum.map_join(", ", &"plug #{inspect(&1)}")})"

  defp group(:resource_template), do: :resource
  defp group(kind) when kind in [:complete_prompt, :complete_resource], do: :completion
  defp group(kind) when kind in [:tool, :prompt, :resource], do: kind
  defp group(_list), do: :list
end
