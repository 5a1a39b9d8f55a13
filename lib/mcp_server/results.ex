defmodule McpServer.Results do
  @moduledoc false
  # The door to the core's rules for the shapes of results: envelopes, presentations and dual
  # responses. One of the façades over `McpServer.Native`. Knows no process and no transport.

  alias McpServer.{JSON, Native}
  alias McpServer.JSON.{EncodeError, Structs}

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
      Structs.write(envelope, fn envelope ->
        with :over_budget <- Native.envelope_findings(envelope, warnings?) do
          Native.Dirty.call(fn -> Native.envelope_findings_dirty(envelope, warnings?) end)
        end
      end)

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

  # Dual responses

  @typedoc "Checked options of an endpoint for stored results."
  @opaque endpoint :: reference()

  @type action :: :metadata | :fetch | :pin | :delete
  @type rows_form :: :page | :ndjson | :csv

  @typedoc "What a request wants, of which resource, in which form, and what permission its URL carries."
  @type wanted ::
          {action(), id :: String.t(), rows_form(),
           nil | :malformed | {expires_at :: non_neg_integer(), signature :: String.t()}}

  @typedoc "Which rows: a page always has a limit."
  @type selection ::
          {offset :: non_neg_integer(), limit :: pos_integer() | nil, [{field :: String.t(), :asc | :desc}]}

  @type headers :: [{String.t(), String.t()}]
  @type answer :: {status :: 200..599, headers(), body :: binary()}
  @type refused :: {:answer, 400..599, headers(), binary()}

  @doc """
  Checks the options of an endpoint; what is left out is as the core has it.

    * `:prefix` – the path below which resources lie (`"/resources"`); `""` where something else has routed
    * `:allowed_hosts`, `:allowed_origins` – as `McpServer.Protocol.HTTP.policy/1` has them
    * `:max_body_bytes` – 64 KiB
    * `:default_limit`, `:max_limit` – rows of a page: 100 and 1,000

  The error text names the option at fault.
  """
  @spec dual_endpoint(map()) :: {:ok, endpoint()} | {:error, String.t()}
  def dual_endpoint(options), do: Native.dual_endpoint(options)

  @doc "Judges a head before its body is read; an `:answer` is finished."
  @spec dual_check_head(endpoint(), McpServer.Protocol.HTTP.head()) :: {:ok, wanted()} | refused()
  def dual_check_head(endpoint, %{method: method, target: target, headers: headers} = head),
    do: Native.dual_check_head(endpoint, method, target, Map.get(head, :authority), headers)

  @doc "Judges the body of a request for rows."
  @spec dual_select(endpoint(), rows_form(), binary()) :: {:ok, selection()} | refused()
  def dual_select(endpoint, form, body), do: Native.dual_select(endpoint, form, body)

  @doc "Whether every field is a column, and one that can be sorted by; columns have their names under `:name` or `\"name\"`."
  @spec check_sort([String.t()], [map()]) :: :ok | refused()
  def check_sort([], _columns), do: :ok

  def check_sort(fields, columns),
    do: Native.dual_check_sort(fields, for(column <- columns, do: {name(column), sortable?(column)}))

  @doc "Whether the URIs of resources may have this scheme: it is one, and means nothing else to hosts."
  @spec check_scheme(String.t()) :: :ok | {:error, :syntax | :reserved}
  def check_scheme(scheme), do: Native.dual_check_scheme(scheme)

  @doc "The name of a column as text."
  @spec name(map()) :: String.t()
  def name(column), do: to_string(column[:name] || column["name"])

  defp sortable?(column), do: Map.get(column, :sortable, Map.get(column, "sortable", true)) != false

  @doc """
  An answer that the core cannot find by itself.

  | kind | status | details |
  |---|---|---|
  | `:malformed` | 400 | |
  | `:invalid_sort` | 400 | a text for the peer |
  | `:unauthorized` | 401 | a challenge, as of `McpServer.Protocol.HTTP` |
  | `:forbidden` | 403 | |
  | `:not_found` | 404 | |
  | `:request_timeout` | 408 | |
  | `:payload_too_large` | 413 | the most bytes a body may have |
  | `:query_failed` | 500 | a text for the peer |
  | `:internal_error` | 500 | |
  | `:storage_unavailable`, `:overloaded` | 503 | seconds to wait |
  | `:timeout` | 504 | |
  """
  @spec dual_refuse(atom(), term()) :: answer()
  def dual_refuse(kind, details \\ nil), do: Native.dual_refuse(kind, details)

  @doc "The body that describes a resource; `columns` are JSON text, times ISO 8601 in seconds."
  @spec dual_metadata(non_neg_integer(), binary(), String.t(), String.t() | nil, non_neg_integer()) :: binary()
  def dual_metadata(total_count, columns, created_at, expires_at, access_count),
    do: Native.dual_metadata(total_count, columns, created_at, expires_at, access_count)

  @doc "The body of a page."
  @spec dual_page([term()], non_neg_integer(), non_neg_integer()) :: {:ok, binary()} | {:error, EncodeError.t()}
  def dual_page(rows, offset, total_count) do
    result =
      Structs.write(rows, fn rows ->
        with :over_budget <- Native.dual_page(rows, offset, total_count),
             do: Native.Dirty.call(fn -> Native.dual_page_dirty(rows, offset, total_count) end)
      end)

    with {:error, reason} <- result, do: {:error, EncodeError.new(reason)}
  end

  @doc "Rows as lines: a JSON text each, or the values of these columns, separated by commas."
  @spec dual_lines([term()], [String.t()] | nil) :: {:ok, binary()} | {:error, EncodeError.t()}
  def dual_lines(rows, columns) do
    result =
      Structs.write(rows, fn rows ->
        with :over_budget <- Native.dual_lines(rows, columns),
             do: Native.Dirty.call(fn -> Native.dual_lines_dirty(rows, columns) end)
      end)

    with {:error, reason} <- result, do: {:error, EncodeError.new(reason)}
  end

  @doc "The headers of an answer in a form; `:none` where there is no body."
  @spec dual_headers(rows_form() | :none) :: headers()
  def dual_headers(form), do: Native.dual_headers(form)

  @doc "The body that says that a resource is pinned."
  @spec dual_pinned() :: binary()
  def dual_pinned, do: Native.dual_pinned()

  @doc "What the signature of a URL signs; the tenant as bytes."
  @spec dual_signed_text(String.t(), [action()], binary() | nil, non_neg_integer()) :: binary()
  def dual_signed_text(id, actions, tenant, expires_at),
    do: Native.dual_signed_text(id, actions, tenant, expires_at)
end
