defmodule McpServer.Dispatch.Failure do
  @moduledoc false
  # A failed call: a description for the log, and an id that connects the log line with the peer's answer.
  #
  # The log line shows no data: a raised, matched or returned term can contain a client's token, its arguments or a
  # sealed state. The line shows the outline of a term and the arities of a stack. The text of an exception stays,
  # without the data that a library has quoted in it.

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

  # A log line must stay below 8 KiB. The rest is for the formatter.
  @max_line_bytes 7_168
  @max_banner_bytes 1_024
  # A longer text is cut to this before it is searched for secrets.
  @max_text_bytes 64 * 1024
  # Shorter values of the request's head can occur in any text, so they are not replaced.
  @min_secret_bytes 6

  @doc "A failure in the handler's code."
  @spec new(:error | :throw | :exit, term(), Exception.stacktrace()) :: t()
  def new(kind, reason, stacktrace),
    do: %__MODULE__{id: id(), kind: kind, reason: reason, stacktrace: stacktrace}

  @doc "The failure of a hook with a request's head. Header values are removed from its text."
  @spec new(:error | :throw | :exit, term(), Exception.stacktrace(), head :: map()) :: t()
  def new(kind, reason, stacktrace, %{headers: headers, target: target}),
    do: %{new(kind, reason, stacktrace) | secrets: secrets([target | Enum.map(headers, &elem(&1, 1))])}

  defp secrets(values) do
    values
    |> Enum.flat_map(&[&1 | String.split(&1, [" ", ",", ";", "=", "?", "&", "\""])])
    |> Enum.filter(&(byte_size(&1) >= @min_secret_bytes))
    |> Enum.uniq()
  end

  @doc "The failure of a handler whose result cannot be sent."
  @spec invalid(term()) :: t()
  def invalid(reason), do: %__MODULE__{id: id(), kind: :invalid_result, reason: reason}

  @doc """
  The failure of a handler with an invalid result, as a text without data from `McpServer.Dispatch.InvalidResult`.
  """
  @spec invalid_result(String.t()) :: t()
  def invalid_result(text), do: invalid({:said, text})

  @doc "The failure of a handler whose result is too large."
  @spec too_large(pos_integer()) :: t()
  def too_large(max_bytes), do: invalid({:too_large, max_bytes})

  @doc "The failure of a process that was ended from outside."
  @spec killed(term()) :: t()
  def killed(reason), do: %__MODULE__{id: id(), kind: :killed, reason: reason}

  @doc "The failure of a call that exceeded its time, in milliseconds."
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
  The failure for error trackers: an exception and the stack, without data.

  An exception that has only a message keeps its type. Any other becomes a `RuntimeError`, because its fields can
  contain data.
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

  @doc "A description in at most 1 KiB."
  @spec banner(t()) :: String.t()
  def banner(failure), do: failure |> describe() |> shown(failure)

  @doc "Advice for the peer that reveals nothing about the server, or `nil`."
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

  # `Exception.format_banner/3` is not used: it prints terms of any size in full before they can be cut.
  defp describe(%{kind: :error, reason: reason} = failure) do
    # Erlang's error terms are clearer as Elixir exceptions.
    case Exception.normalize(:error, reason, failure.stacktrace) do
      %ErlangError{} -> "** (error) #{Outline.of(original(reason))}"
      exception -> "** (#{inspect(exception.__struct__)}) #{Outline.message(exception)}"
    end
  end

  defp describe(%{kind: :throw, reason: reason}), do: "** (throw) #{Outline.of(reason)}"
  defp describe(%{kind: :exit, reason: reason}), do: "** (exit) #{Outline.of(reason)}"

  defp original(%ErlangError{original: original}), do: original
  defp original(reason), do: reason

  @doc "The stack as lines, without arguments."
  @spec trace(Exception.stacktrace()) :: String.t()
  def trace([]), do: ""

  def trace(stacktrace) do
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

  # Cuts between characters. The caller must check whether the binary is text.
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
