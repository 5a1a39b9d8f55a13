defmodule McpServer.Native do
  # The stubs of the native library. Only the façades call it: `McpServer.JSON`, `McpServer.Protocol`,
  # `McpServer.Protocol.HTTP`, `McpServer.Schema`, `McpServer.Lint`, `McpServer.Breaking`,
  # `McpServer.Presentation.Text`, `McpServer.DualResponse.Rest.Endpoint` and the reader of `McpServer.Stdio`.
  #
  # The façades document arguments and results. All functions share these rules: a `_dirty` twin does the same on a
  # dirty CPU scheduler, and returns `:busy` while too many of them run (`McpServer.Native.Dirty` waits). `:over_budget`
  # asks for the twin.
  @moduledoc false

  alias McpServer.Native.Library

  # Compiled first, because loading this module calls it, also while this project compiles.
  Code.ensure_compiled!(Library)

  @on_load :load

  @doc false
  def load do
    # One dirty CPU scheduler stays free for other work.
    limit = :erlang.system_info(:dirty_cpu_schedulers_online) - 1

    # Loading an incomplete library would crash the VM.
    case Library.whole?() && :erlang.load_nif(Library.path(), {Library.version(), limit}) do
      false -> {:error, {:load_failed, Library.cut_short()}}
      :ok -> Library.note_loaded()
      {:error, {:upgrade, _text}} -> {:error, {:upgrade, Library.restart_needed()}}
      {:error, _reason} = error -> error
    end
  end

  # Dirty CPU schedulers
  def dirty_wait(_client), do: unloaded()

  # JSON
  def json_encode(_term, _options), do: unloaded()
  def json_encode_dirty(_term, _options), do: unloaded()
  def json_decode(_text, _options, _views?), do: unloaded()
  def json_decode_dirty(_text, _options, _views?), do: unloaded()
  def json_plan_struct(_module, _fields), do: unloaded()
  def json_knows_struct(_module), do: unloaded()

  # Schemas
  def schema_compile(_text, _limits, _formats, _documents), do: unloaded()
  def schema_validate(_schema, _term), do: unloaded()
  def schema_validate_dirty(_schema, _term), do: unloaded()
  def schema_repair(_schema, _term), do: unloaded()

  def schema_satisfiable(_text), do: unloaded()
  def schema_contains(_outer, _inner), do: unloaded()

  # Findings and changes
  def lint_definition(_definition, _budgets, _limits), do: unloaded()
  def catalog_snapshot(_definition), do: unloaded()
  def catalog_compare(_old, _new), do: unloaded()

  # stdin and stdout
  def stdio_open, do: unloaded()
  def stdio_prepend(_reader, _bytes), do: unloaded()
  def stdio_read(_reader, _owner, _max_line_bytes), do: unloaded()
  def stdio_take(_reader, _wait_us), do: unloaded()
  def stdio_credit(_reader, _batches), do: unloaded()
  def stdio_close(_reader), do: unloaded()
  def stdio_write_now(_reader, _text), do: unloaded()

  # The protocol
  def catalog_new(_definition, _structs, _limits, _stand_in_key), do: unloaded()
  def message_limits(_limits), do: unloaded()
  def admit(_catalog, _limits, _revision, _line), do: unloaded()
  def admit_dirty(_catalog, _limits, _revision, _line), do: unloaded()
  def encode_result(_catalog, _id, _revision, _kind, _index, _term), do: unloaded()
  def encode_result_dirty(_catalog, _id, _revision, _kind, _index, _term), do: unloaded()
  def find_resource(_catalog, _uri, _without), do: unloaded()
  def normal_uri(_uri), do: unloaded()
  def granted_list(_catalog, _request, _grant, _more, _version), do: unloaded()
  def granted_list_dirty(_catalog, _request, _grant, _more, _version), do: unloaded()
  def run_time_arguments(_catalog, _called, _arguments), do: unloaded()
  def run_time_arguments_dirty(_catalog, _called, _arguments), do: unloaded()
  def expand_template(_template, _variables), do: unloaded()
  def encode_empty(_catalog, _id, _revision, _listen), do: unloaded()
  def encode_input_required(_catalog, _id, _capabilities, _inputs, _state), do: unloaded()
  def encode_error(_id, _revision, _code, _message, _data), do: unloaded()
  def error_code(_name), do: unloaded()
  def refused_id(_text), do: unloaded()
  def handler_error(_revision, _code), do: unloaded()
  def encode_notification(_revision, _kind, _fields, _subscription), do: unloaded()
  def encode_request(_revision, _id, _input), do: unloaded()
  def answered_alone, do: unloaded()
  def missing_capabilities(_revision, _capabilities, _inputs), do: unloaded()
  def offers_input(_revision, _capabilities, _capability), do: unloaded()
  def supported_params(_revision, _capabilities, _input), do: unloaded()
  def seal_state(_secret, _nonce, _binding, _expires_at, _state), do: unloaded()
  def open_state(_secret, _binding, _now, _sealed), do: unloaded()
  def content_security_policy(_csp, _sandbox?), do: unloaded()

  # Presentations
  def presentation_text(_form, _text, _language), do: unloaded()
  def presentation_text_dirty(_form, _text, _language), do: unloaded()
  def presentation_count(_text, _markers), do: unloaded()
  def presentation_count_dirty(_text, _markers), do: unloaded()

  # Dual responses
  def dual_endpoint(_options), do: unloaded()
  def dual_check_head(_endpoint, _method, _target, _authority, _headers), do: unloaded()
  def dual_select(_endpoint, _form, _body), do: unloaded()
  def dual_refuse(_kind, _details), do: unloaded()
  def dual_page(_rows, _offset, _total_count), do: unloaded()
  def dual_page_dirty(_rows, _offset, _total_count), do: unloaded()
  def dual_lines(_rows, _columns), do: unloaded()
  def dual_lines_dirty(_rows, _columns), do: unloaded()
  def dual_headers(_form), do: unloaded()

  # The rules of HTTP
  def http_policy(_options), do: unloaded()
  def http_check_head(_policy, _method, _target, _authority, _headers), do: unloaded()
  def http_count_refusal(_status), do: unloaded()
  def http_admit(_catalog, _limits, _screened, _client, _body), do: unloaded()
  def http_admit_dirty(_catalog, _limits, _screened, _client, _body), do: unloaded()
  def http_answer(_kind, _details), do: unloaded()
  def http_challenge(_challenge), do: unloaded()
  def http_metadata_url(_policy), do: unloaded()
  def http_metadata_path(_policy, _path), do: unloaded()
  def http_stream_headers, do: unloaded()
  def http_event(_id), do: unloaded()
  def http_priming(_id, _retry_ms), do: unloaded()
  def http_keep_alive, do: unloaded()

  # Access tokens
  def auth_bearer(_target, _headers), do: unloaded()
  def auth_credentials(_target, _headers), do: unloaded()
  def auth_proof(_headers, _request, _times), do: unloaded()
  def auth_proof_algorithms, do: unloaded()
  def auth_proof_verified(_pending), do: unloaded()
  def auth_policy(_options), do: unloaded()
  def auth_keyset(_json), do: unloaded()
  def auth_secret(_secret), do: unloaded()
  def auth_retain(_keys, _sound), do: unloaded()
  def auth_issuer(_token, _max_bytes), do: unloaded()
  def auth_screen(_token, _policy, _keys, _now), do: unloaded()
  def auth_introspected(_answer, _policy, _now), do: unloaded()
  def auth_verified(_pending), do: unloaded()
  def auth_guard(_options), do: unloaded()
  def auth_known(_guard, _digest, _now), do: unloaded()
  def auth_remember(_guard, _digest, _verified, _holder), do: unloaded()
  def auth_forget(_guard), do: unloaded()
  def auth_withdraw(_keys), do: unloaded()

  # The text of HTTP
  def http_service(_policy, _catalog, _limits, _hooks_and_guard, _routes, _head_limits), do: unloaded()
  def http_next(_gate, _buffer, _scanned), do: unloaded()
  def http_next_dirty(_gate, _buffer, _scanned), do: unloaded()
  def http_head_fields(_head), do: unloaded()
  def http_response_head(_status, _headers, _length, _close?), do: unloaded()
  def http_continue, do: unloaded()
  def http_chunked(_max_bytes), do: unloaded()
  def http_decode_chunks(_decoder, _bytes), do: unloaded()

  defp unloaded, do: :erlang.nif_error(:nif_not_loaded)
end
