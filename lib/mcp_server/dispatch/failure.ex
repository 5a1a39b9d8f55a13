defmodule McpServer.Dispatch.Failure do
  @moduledoc false
  # A call that went wrong: what happened, for the log, and an id that connects the log line with the
  # answer the peer got.

  require Logger

  @enforce_keys [:id, :kind, :reason]
  defstruct [:id, :kind, :reason, stacktrace: []]

  @type kind :: :error | :throw | :exit | :killed | :timeout | :invalid_result
  @type t :: %__MODULE__{
          id: String.t(),
          kind: kind(),
          reason: term(),
          stacktrace: Exception.stacktrace()
        }

  # A log line has to stay below 8 KiB whatever a handler raises; the rest is for the formatter.
  @max_line_bytes 7_168
  @max_banner_bytes 1_024
  @inspect_options [limit: 20, printable_limit: 1_024, width: 120]

  @doc "A failure that the handler's code ran into."
  @spec new(:error | :throw | :exit, term(), Exception.stacktrace()) :: t()
  def new(kind, reason, stacktrace),
    do: %__MODULE__{id: id(), kind: kind, reason: reason, stacktrace: stacktrace}

  @doc "The handler returned what cannot be sent."
  @spec invalid(term()) :: t()
  def invalid(reason), do: %__MODULE__{id: id(), kind: :invalid_result, reason: reason}

  @doc "The process was ended from outside."
  @spec killed(term()) :: t()
  def killed(reason), do: %__MODULE__{id: id(), kind: :killed, reason: reason}

  @doc "The call ran out of its time, in milliseconds."
  @spec timeout(pos_integer()) :: t()
  def timeout(milliseconds), do: %__MODULE__{id: id(), kind: :timeout, reason: milliseconds}

  defp id, do: Base.encode16(:crypto.strong_rand_bytes(8), case: :lower)

  @doc "Writes the one log line of a failure."
  @spec log(t(), String.t()) :: :ok
  def log(failure, call) do
    line = "MCP #{clip(call, 300)} failed (error id #{failure.id}): #{banner(failure)}#{trace(failure.stacktrace)}"
    Logger.error(clip(line, @max_line_bytes), mcp_error_id: failure.id)
  end

  @doc "What happened, in at most 1 KiB."
  @spec banner(t()) :: String.t()
  def banner(failure), do: failure |> describe() |> clip(@max_banner_bytes)

  defp describe(%{kind: :timeout, reason: milliseconds}), do: "timed out after #{milliseconds} ms"

  defp describe(%{kind: :killed, reason: :killed}),
    do: "the process was killed, by itself, by another or for the size of its heap"

  defp describe(%{kind: :killed, reason: reason}), do: "the process was ended: #{inspect(reason, @inspect_options)}"
  defp describe(%{kind: :invalid_result, reason: text}) when is_binary(text), do: "invalid handler result: #{text}"

  defp describe(%{kind: :invalid_result, reason: exception}) when is_exception(exception),
    do: "invalid handler result: #{message(exception)}"

  defp describe(%{kind: :invalid_result, reason: {:output_schema, problems}}) do
    lines = for problem <- problems, do: Map.get(problem, :message) || inspect(problem, @inspect_options)
    "invalid handler result: structured content does not fit the output schema: #{Enum.join(lines, "; ")}"
  end

  defp describe(%{kind: :invalid_result, reason: returned}),
    do: "invalid handler result: #{inspect(returned, @inspect_options)}"

  # Not `Exception.format_banner/3`: it prints terms of any size in full before they could be cut.
  defp describe(%{kind: :error, reason: reason} = failure) do
    case reason do
      exception when is_exception(exception) -> "** (#{inspect(exception.__struct__)}) #{message(exception)}"
      reason -> normalize(reason, failure.stacktrace)
    end
  end

  defp describe(%{kind: :throw, reason: reason}), do: "** (throw) #{inspect(reason, @inspect_options)}"
  defp describe(%{kind: :exit, reason: reason}), do: "** (exit) #{inspect(reason, @inspect_options)}"

  # Erlang's error terms that Elixir knows as exceptions read better as such.
  defp normalize(reason, stacktrace) do
    case Exception.normalize(:error, reason, stacktrace) do
      %ErlangError{} -> "** (error) #{inspect(reason, @inspect_options)}"
      exception -> "** (#{inspect(exception.__struct__)}) #{message(exception)}"
    end
  end

  # `message/1` of a user's exception is the user's code.
  defp message(exception) do
    text = Exception.message(exception)
    if String.valid?(clip(text, 4_096)), do: text, else: inspect(exception, @inspect_options)
  end

  defp trace([]), do: ""

  defp trace(stacktrace) do
    "\n" <> (stacktrace |> Enum.map(&without_arguments/1) |> Exception.format_stacktrace())
  end

  # Arguments in a stack trace are the caller's data, of any size.
  defp without_arguments({module, function, arguments, where}) when is_list(arguments),
    do: {module, function, length(arguments), where}

  defp without_arguments({function, arguments, where}) when is_list(arguments),
    do: {function, length(arguments), where}

  defp without_arguments(frame), do: frame

  # Cuts between characters; what was no text is left to the caller to notice.
  defp clip(text, max_bytes) when byte_size(text) <= max_bytes, do: text
  defp clip(text, max_bytes), do: text |> binary_part(0, max_bytes) |> whole_characters() |> Kernel.<>(" …")

  defp whole_characters(text) do
    case :unicode.characters_to_binary(text) do
      whole when is_binary(whole) -> whole
      {:incomplete, whole, _rest} -> whole
      {:error, _whole, _rest} -> text
    end
  end
end
