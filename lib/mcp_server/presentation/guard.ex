defmodule McpServer.Presentation.Guard do
  @moduledoc false
  # Runs a handler's work, and turns every outcome into a result of a known kind.

  alias McpServer.Dispatch.Failure
  alias McpServer.Presentation
  alias McpServer.Presentation.{NeedsInput, Output, ToolError}
  alias McpServer.Tool.CallResult

  @spec respond(Presentation.t(), map, (String.t() -> term)) :: Presentation.result()
  def respond(view, arguments, fun) do
    case Output.format(arguments["format"]) do
      {:ok, {name, _markdown?, _json?}} -> run(view, name, fun)
      {:error, failure} -> {:ok, ToolError.present(failure, view, [])}
    end
  end

  defp run(view, format, fun) do
    result(fun.(format), view, format)
  catch
    kind, reason ->
      failure = Failure.new(kind, reason, __STACKTRACE__)
      Failure.log(failure, "presentation")
      unknown(failure, view, format)
  end

  defp result({:ok, %CallResult{}} = result, _view, _format), do: result
  defp result({:input_required, _requests, _state} = question, _view, _format), do: question
  defp result(%NeedsInput{} = question, view, format), do: NeedsInput.ask(question, view, format: format)
  defp result(%ToolError{} = failure, view, format), do: failed(failure, view, format)
  defp result({:error, reason}, view, format), do: failed(ToolError.from(reason), view, format)

  defp result(other, view, format) do
    failure = Failure.invalid(other)
    Failure.log(failure, "presentation")
    unknown(failure, view, format)
  end

  defp unknown(%Failure{id: id}, view, format) do
    failed(ToolError.new(:unknown_error, "The tool failed (error id #{id})."), view, format)
  end

  defp failed(failure, view, format), do: {:ok, ToolError.present(failure, view, format: format)}
end
