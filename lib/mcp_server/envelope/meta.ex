defmodule McpServer.Envelope.Meta do
  @moduledoc false
  # The `meta` of an envelope, built from the options. Keys become text. `Rules` checks the values when the envelope is
  # complete.

  alias McpServer.{Conn, Fields}
  alias McpServer.Envelope.Codes

  @version "response-v2"
  @fidelity_version "1.0"

  @common [
    conn: {:struct, Conn},
    request_id: :string,
    rate_limit: :container,
    telemetry: :container,
    meta: :map
  ]
  @failure Fields.table(@common, "option")
  @success Fields.table(
             @common ++
               [
                 warnings: {:list, :string},
                 warning_details: :list,
                 pagination: :container,
                 content_fidelity: :any,
                 dropped_content_ids: {:list, :string},
                 content_archive_hashes: :container
               ],
             "option"
           )

  @doc "The value of `version`."
  @spec version() :: String.t()
  def version, do: @version

  @doc "The meta of a success."
  @spec of_success(keyword()) :: %{String.t() => term()}
  def of_success(options) do
    "success/2"
    |> Fields.gather!(@success, options)
    |> Map.replace_lazy(:warning_details, fn details -> Enum.map(details, &warning/1) end)
    |> put_fidelity_version()
    |> build()
  end

  @doc "The meta of a failure."
  @spec of_failure(keyword()) :: %{String.t() => term()}
  def of_failure(options), do: "error/2" |> Fields.gather!(@failure, options) |> build()

  @doc "The meta with this request id, unless it has one already, or the value is not a valid id."
  @spec put_request_id(map(), term()) :: map()
  def put_request_id(%{"request_id" => _own} = meta, _id), do: meta

  def put_request_id(meta, id) when is_integer(id) and is_map(meta),
    do: Map.put(meta, "request_id", Integer.to_string(id))

  def put_request_id(meta, id) when is_binary(id) and is_map(meta),
    do: if(id =~ ~r/\A[A-Za-z0-9_-]+\z/, do: Map.put(meta, "request_id", id), else: meta)

  def put_request_id(meta, _none), do: meta

  defp build(options) do
    {free, options} = Map.pop(options, :meta, %{})
    {conn, options} = Map.pop(options, :conn)
    named = for {name, value} <- options, into: %{}, do: {Atom.to_string(name), object(value)}

    free
    |> with_text_keys()
    |> Map.merge(named)
    |> Map.reject(&empty?/1)
    |> put_request_id(conn && conn.request_id)
    |> Map.put("version", @version)
  end

  @optional ~w(request_id warnings warning_details pagination rate_limit telemetry content_fidelity) ++
              ~w(content_fidelity_schema_version dropped_content_ids content_archive_hashes)

  # Only keys of the contract are left out. The caller wants all other keys to be sent.
  defp empty?({key, value}), do: key in @optional and value in [nil, [], %{}]

  defp put_fidelity_version(%{content_fidelity: fidelity} = options) do
    fidelity = if is_atom(fidelity), do: Atom.to_string(fidelity), else: fidelity
    Map.merge(options, %{content_fidelity: fidelity, content_fidelity_schema_version: @fidelity_version})
  end

  defp put_fidelity_version(options), do: options

  # The default severity is that of the code.
  defp warning(warning) do
    warning = warning |> object() |> with_text_keys() |> Map.reject(fn {_key, value} -> value == nil end)

    case warning do
      %{"code" => code} when is_atom(code) -> put_severity(%{warning | "code" => upcase(code)})
      warning -> put_severity(warning)
    end
  end

  defp put_severity(%{"code" => code} = warning) when is_binary(code) and not is_map_key(warning, "severity") do
    case Codes.warnings() do
      %{^code => severity} -> Map.put(warning, "severity", severity)
      _own_code -> warning
    end
  end

  defp put_severity(warning), do: warning

  defp upcase(code), do: code |> Atom.to_string() |> String.upcase()

  # A keyword list becomes an object. Maps are sent unchanged.
  defp object([{key, _value} | _rest] = pairs) when is_atom(key), do: with_text_keys(pairs)
  defp object(value), do: value

  defp with_text_keys(pairs) when is_map(pairs) or is_list(pairs) do
    Map.new(pairs, fn
      {key, value} when is_atom(key) -> {Atom.to_string(key), value}
      {key, value} -> {key, value}
    end)
  end

  defp with_text_keys(other), do: raise(ArgumentError, "expected a map or a keyword list, got: #{inspect(other)}")
end
