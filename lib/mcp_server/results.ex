defmodule McpServer.Results do
  @moduledoc false
  # The door to the core's rules for the shapes of results: envelopes, presentations and dual
  # responses. One of the façades over `McpServer.Native`. Knows no process and no transport.

  alias McpServer.Native

  alias McpServer.{JSON, Native}
  alias McpServer.JSON.EncodeError

  # Envelopes

  @type finding :: %{level: :error | :warning, pointer: String.t(), reason: String.t(), message: String.t()}

  @doc """
  What is wrong with an envelope, given as a map of its members under text keys.

  Warnings are looked for when `warnings?`, and found only where there is no error. The error is that of a
  term which has no JSON text; inside of `data` nobody looks.
  """
  @spec envelope_findings(term(), boolean()) :: {:ok, [finding()]} | {:error, EncodeError.t()}
  def envelope_findings(envelope, warnings?) do
    result =
      with :over_budget <- Native.envelope_findings(envelope, warnings?) do
        Native.Dirty.call(fn -> Native.envelope_findings_dirty(envelope, warnings?) end)
      end

    case result do
      findings when is_list(findings) -> {:ok, findings}
      {:error, reason} -> {:error, EncodeError.new(reason)}
    end
  end

  @doc "The code, the type and what to do about an error, from the code and the type that are given, if any."
  @spec envelope_error(String.t() | nil, String.t() | nil) ::
          {:ok, {code :: String.t(), type :: String.t(), remediation :: String.t()}}
          | {:error, :invalid_code | :invalid_type}
  def envelope_error(code, type), do: Native.envelope_error(code, type)

  @doc "The HTTP status and the retry advice of a type of errors; `nil` for no such type."
  @spec envelope_error_type(String.t()) :: {pos_integer(), :no | :maybe | :after_delay | :backoff} | nil
  def envelope_error_type(type), do: Native.envelope_error_type(type)

  @doc "The error code that reports a situation, which is one of the core's."
  @spec envelope_code_for(atom()) :: String.t()
  def envelope_code_for(situation), do: <<_, _::binary>> = Native.envelope_code_for(Atom.to_string(situation))

  @doc "The severity of a standard warning code."
  @spec envelope_severity(String.t()) :: String.t() | nil
  def envelope_severity(code), do: Native.envelope_severity(code)

  @doc "Whether a text can be the id of a request."
  @spec envelope_request_id?(String.t()) :: boolean()
  def envelope_request_id?(id), do: Native.envelope_request_id(id)

  @doc "The error codes with their types, the types, and the warning codes with their severities."
  @spec envelope_tables() :: {[{String.t(), String.t()}], [String.t()], [{String.t(), String.t()}]}
  def envelope_tables, do: Native.envelope_tables()

  @doc "The JSON Schema of an envelope."
  @spec envelope_schema() :: map()
  def envelope_schema, do: JSON.decode!(Native.envelope_schema())

  # Presentation

  # A text above this goes to a dirty scheduler.
  @inline_bytes 32 * 1024

  @type form :: :line | :cell | :code_span | :code_block | :block | :summary

  @doc "The resolved format's name, and whether it has Markdown and JSON; `nil` for what is no format."
  @spec format(String.t() | nil) :: {String.t(), markdown? :: boolean, json? :: boolean} | nil
  def format(given), do: Native.presentation_format(given)

  @doc "A kind's name and version; `nil` for what is no kind."
  @spec kind(String.t()) :: {String.t(), pos_integer} | nil
  def kind(text), do: Native.presentation_kind(text)

  @doc "Whether a kind is one of those known; of another version of one, that one."
  @spec judge_kind(String.t(), [String.t()]) :: :known | :unknown | String.t()
  def judge_kind(kind, known), do: Native.presentation_judge(kind, known)

  @doc "A contract marker; `nil` where name or version cannot be one."
  @spec marker(String.t(), String.t()) :: String.t() | nil
  def marker(name, version), do: Native.presentation_marker(name, version)

  @doc "How often each marker counts in a text."
  @spec count_markers(String.t(), [String.t()]) :: [non_neg_integer]
  def count_markers(text, markers) when byte_size(text) <= @inline_bytes, do: Native.presentation_count(text, markers)
  def count_markers(text, markers), do: Native.Dirty.call(fn -> Native.presentation_count_dirty(text, markers) end)

  @doc "What markers and rendered cards disagree about, in words; `nil` for nothing."
  @spec mismatch(non_neg_integer, non_neg_integer, non_neg_integer) :: String.t() | nil
  def mismatch(index, cards, rendered), do: Native.presentation_mismatch(index, cards, rendered)

  @doc "A text in another form; `language` is a code block's."
  @spec text(form, String.t(), String.t()) :: String.t()
  def text(form, text, language \\ "")

  def text(form, text, language) when byte_size(text) <= @inline_bytes,
    do: Native.presentation_text(form, text, language)

  def text(form, text, language),
    do: Native.Dirty.call(fn -> Native.presentation_text_dirty(form, text, language) end)

  @doc "A row of a Markdown table."
  @spec table_row([String.t()]) :: String.t()
  def table_row(cells), do: Native.presentation_row(cells)

  @doc "The limits where a server sets none."
  @spec presentation_limits() :: %{
          max_output_bytes: pos_integer,
          too_broad: pos_integer,
          cards: pos_integer,
          max_cards: pos_integer
        }
  def presentation_limits do
    {bytes, too_broad, cards, max_cards} = Native.presentation_limits()
    %{max_output_bytes: bytes, too_broad: too_broad, cards: cards, max_cards: max_cards}
  end

  @doc "Whether there is nothing to search for."
  @spec empty_query?(String.t() | nil) :: boolean
  def empty_query?(query), do: Native.presentation_empty_query(query)

  @doc "Whether a search found too much."
  @spec too_broad?(non_neg_integer, boolean, non_neg_integer) :: boolean
  def too_broad?(matches, filtered?, threshold), do: Native.presentation_too_broad(matches, filtered?, threshold)

  @doc "How many of the listed items get a card."
  @spec rendered_cards(non_neg_integer, non_neg_integer, String.t()) :: non_neg_integer
  def rendered_cards(listed, limit, format), do: Native.presentation_cards(listed, limit, format)

  @doc "The places of options, given by their fields, in the order they are offered in."
  @spec grouped([String.t()], [String.t() | nil]) :: [non_neg_integer]
  def grouped(fields, options), do: Native.presentation_grouped(fields, options)

  @doc "The kinds that every server has, with their schemas as JSON text."
  @spec presentation_schemas() :: [{String.t(), String.t()}]
  def presentation_schemas, do: Native.presentation_schemas()

  @doc "The codes of tool errors."
  @spec tool_error_codes() :: [String.t()]
  def tool_error_codes, do: Native.presentation_codes()

  @doc "The code of an HTTP status or of a named failure, and whether to try again."
  @spec classify(non_neg_integer | String.t()) :: {String.t(), retryable? :: boolean}
  def classify(status) when status in 0..0xFFFF, do: Native.presentation_of_status(status)
  def classify(reason) when is_binary(reason), do: Native.presentation_of_reason(reason)

  @doc "Whether a member of where a result is from may not leave this machine."
  @spec private?(String.t(), String.t()) :: boolean
  def private?(name, value), do: Native.presentation_is_private(name, value)

  @doc "Why no data was found in a result, from what was found instead, the last block first."
  @spec not_found([nil | {:unknown_kind | :mismatch, String.t()}]) ::
          {:unknown_kind | :mismatch | :not_found, String.t() | nil, message :: String.t()}
  def not_found(findings), do: Native.presentation_not_found(findings)
end
