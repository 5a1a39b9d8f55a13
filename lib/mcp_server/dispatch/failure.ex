defmodule McpServer.Dispatch.Failure do
  @moduledoc false
  # A call that went wrong: what happened, for the log, and an id that connects the log line with the
  # answer the peer got.
  #
  # The line shows no data: a term that was raised, matched or returned can hold a client's token, its arguments
  # or a sealed state. Of a term it shows the outline, of a stack the arities. The text of an exception is its
  # author's, but for what a library has quoted in it.

  require Logger

  alias McpServer.Outline

  @enforce_keys [:id, :kind, :reason]
  defstruct [:id, :kind, :reason, stacktrace: [], secrets: []]

  @type kind :: :error | :throw | :exit | :killed | :timeout | :invalid_result
  @type t :: %__MODULE__{
          id: String.t(),
          kind: kind(),
          reason: term(),
          stacktrace: Exception.stacktrace(),
          secrets: [String.t()]
        }

  # A log line has to stay below 8 KiB whatever a handler raises; the rest is for the formatter.
  @max_line_bytes 7_168
  @max_banner_bytes 1_024
  # Of a text that is longer than this, no more is searched for what must not be shown.
  @max_text_bytes 64 * 1024
  # What is shorter is a word of any text.
  @min_secret_bytes 6

  @doc "A failure that the handler's code ran into."
  @spec new(:error | :throw | :exit, term(), Exception.stacktrace()) :: t()
  def new(kind, reason, stacktrace),
    do: %__MODULE__{id: id(), kind: kind, reason: reason, stacktrace: stacktrace}

  @doc "The failure of a hook that was given the head of a request: what the headers held is not shown, whoever wrote it."
  @spec new(:error | :throw | :exit, term(), Exception.stacktrace(), head :: map()) :: t()
  def new(kind, reason, stacktrace, %{headers: headers, target: target}),
    do: %{new(kind, reason, stacktrace) | secrets: secrets([target | Enum.map(headers, &elem(&1, 1))])}

  defp secrets(values) do
    values
    |> Enum.flat_map(&[&1 | String.split(&1, [" ", ",", ";", "=", "?", "&", "\""])])
    |> Enum.filter(&(byte_size(&1) >= @min_secret_bytes))
    |> Enum.uniq()
  end

  @doc "The handler returned what cannot be sent."
  @spec invalid(term()) :: t()
  def invalid(reason), do: %__MODULE__{id: id(), kind: :invalid_result, reason: reason}

  @doc "The same, in words that show no data: those of `McpServer.Dispatch.InvalidResult`."
  @spec invalid_result(String.t()) :: t()
  def invalid_result(text), do: invalid({:said, text})

  @doc "The handler returned more than may be sent."
  @spec too_large(pos_integer()) :: t()
  def too_large(max_bytes), do: invalid({:too_large, max_bytes})

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
    Logger.error(clip(line, @max_line_bytes), mcp_error_id: failure.id, crash_reason: crash_reason(failure))
  end

  @doc """
  The failure as services that collect errors group them: an exception and the stack, without data.

  An exception that has a message and no more keeps its type. Any other becomes a `RuntimeError`, because its fields can
  hold what the log line leaves out.
  """
  @spec crash_reason(t()) :: {Exception.t(), Exception.stacktrace()}
  def crash_reason(failure), do: {exception(failure), Enum.map(failure.stacktrace, &without_arguments/1)}

  defp exception(%{kind: :error, reason: reason, stacktrace: stacktrace} = failure) do
    case Exception.normalize(:error, reason, stacktrace) do
      %{message: _text} = exception when map_size(exception) == 3 ->
        %{exception | message: exception |> Outline.message() |> shown(failure)}

      %module{} = exception when module in [FunctionClauseError, UndefinedFunctionError] ->
        exception

      _with_fields ->
        %RuntimeError{message: banner(failure)}
    end
  end

  defp exception(failure), do: %RuntimeError{message: banner(failure)}

  defp shown(text, failure), do: text |> without(failure.secrets) |> clip(@max_banner_bytes)

  @doc "What happened, in at most 1 KiB."
  @spec banner(t()) :: String.t()
  def banner(failure), do: failure |> describe() |> shown(failure)

  @doc "What the peer can do about it, where that says nothing of the server; else `nil`."
  @spec advice(t()) :: String.t() | nil
  def advice(%{kind: :timeout, reason: milliseconds}),
    do: "it did not finish within #{milliseconds} ms. Ask for less at once, or try again later"

  def advice(%{kind: :invalid_result, reason: {:too_large, max_bytes}}),
    do: "its result is larger than #{max_bytes} bytes. Ask for less at once"

  def advice(_failure), do: nil

  defp without(text, []), do: text

  defp without(text, secrets), do: text |> cut(@max_text_bytes) |> String.replace(secrets, "...")

  defp describe(%{kind: :timeout, reason: milliseconds}), do: "timed out after #{milliseconds} ms"

  defp describe(%{kind: :killed, reason: :killed}),
    do: "the process was killed, by itself, by another or for the size of its heap"

  defp describe(%{kind: :killed, reason: reason}), do: "the process was ended: #{Outline.of(reason)}"

  defp describe(%{kind: :invalid_result, reason: {:too_large, max_bytes}}) when is_integer(max_bytes),
    do: "invalid handler result: the result is larger than #{max_bytes} bytes"

  defp describe(%{kind: :invalid_result, reason: {:said, text}}), do: "invalid handler result: #{text}"

  defp describe(%{kind: :invalid_result, reason: exception}) when is_exception(exception),
    do: "invalid handler result: #{Outline.message(exception)}"

  defp describe(%{kind: :invalid_result, reason: returned}), do: "invalid handler result: #{Outline.of(returned)}"

  # Not `Exception.format_banner/3`: it prints terms of any size in full before they could be cut.
  defp describe(%{kind: :error, reason: reason} = failure) do
    # Erlang's error terms that Elixir knows as exceptions read better as such.
    case Exception.normalize(:error, reason, failure.stacktrace) do
      %ErlangError{} -> "** (error) #{Outline.of(original(reason))}"
      exception -> "** (#{inspect(exception.__struct__)}) #{Outline.message(exception)}"
    end
  end

  defp describe(%{kind: :throw, reason: reason}), do: "** (throw) #{Outline.of(reason)}"
  defp describe(%{kind: :exit, reason: reason}), do: "** (exit) #{Outline.of(reason)}"

  defp original(%ErlangError{original: original}), do: original
  defp original(reason), do: reason

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

  defp cut(text, max_bytes) when byte_size(text) <= max_bytes, do: text
  defp cut(text, max_bytes), do: binary_part(text, 0, max_bytes)

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
