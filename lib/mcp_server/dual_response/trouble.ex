defmodule McpServer.DualResponse.Trouble do
  @moduledoc false
  # The log line of what went wrong in a store or a query. A peer gets a sentence without any of it.

  require Logger

  @inspect_options [limit: 20, printable_limit: 1_024, width: 120]
  @max_bytes 4_096

  @doc "Logs what `what` of a server did instead of its work."
  @spec log(atom, String.t(), term) :: :ok
  def log(server, what, answer), do: Logger.error(clip("#{inspect(server)}: #{what} #{describe(answer)}"))

  defp describe({:failed, kind, reason, stacktrace}), do: "failed: #{banner(kind, reason)}#{trace(stacktrace)}"
  defp describe(:timeout), do: "took too long"
  defp describe({:down, reason}), do: "was ended: #{inspect(reason, @inspect_options)}"
  defp describe({:error, reason}), do: "failed: #{inspect(reason, @inspect_options)}"
  defp describe(other), do: "answered #{inspect(other, @inspect_options)}"

  defp banner(:error, exception) when is_exception(exception),
    do: "** (#{inspect(exception.__struct__)}) #{Exception.message(exception)}"

  defp banner(kind, reason), do: "** (#{kind}) #{inspect(reason, @inspect_options)}"

  # Arguments in a stack trace are data, of any size.
  defp trace(stacktrace) do
    frames =
      for {module, function, arity, where} <- stacktrace,
          do: {module, function, if(is_list(arity), do: length(arity), else: arity), where}

    "\n" <> Exception.format_stacktrace(frames)
  end

  defp clip(text) when byte_size(text) <= @max_bytes, do: text
  defp clip(text), do: binary_part(text, 0, @max_bytes) <> " …"
end
