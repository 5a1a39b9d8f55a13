defmodule McpServer.DualResponse.Trouble do
  @moduledoc false
  # Logs the errors of stores and queries. A client gets a sentence without details.

  require Logger

  alias McpServer.Outline

  @max_bytes 4_096

  @doc "Logs the failure of `what`, a part of a server."
  @spec log(atom, String.t(), term) :: :ok
  def log(server, what, answer), do: Logger.error(clip("#{inspect(server)}: #{what} #{describe(answer)}"))

  defp describe({:failed, kind, reason, stacktrace}), do: "failed: #{banner(kind, reason)}#{trace(stacktrace)}"
  defp describe(:timeout), do: "took too long"
  defp describe({:down, reason}), do: "was ended: #{Outline.of(reason)}"
  defp describe({:error, reason}), do: "failed: #{reason(reason)}"
  defp describe(other), do: "answered #{Outline.of(other)}"

  # A text comes from the author of the store.
  defp reason(reason) when is_binary(reason), do: inspect(reason, printable_limit: 1_024)
  defp reason(exception) when is_exception(exception), do: banner(:error, exception)
  defp reason(reason), do: Outline.of(reason)

  defp banner(:error, exception) when is_exception(exception),
    do: "** (#{inspect(exception.__struct__)}) #{Outline.message(exception)}"

  defp banner(kind, reason), do: "** (#{kind}) #{Outline.of(reason)}"

  # Arguments in a stack trace are data of any size.
  defp trace(stacktrace) do
    frames =
      for {module, function, arity, where} <- stacktrace,
          do: {module, function, if(is_list(arity), do: length(arity), else: arity), where}

    "\n" <> Exception.format_stacktrace(frames)
  end

  defp clip(text) when byte_size(text) <= @max_bytes, do: text
  defp clip(text), do: binary_part(text, 0, @max_bytes) <> " …"
end
