defmodule McpServer.Envelope.Advice do
  @moduledoc false
  # Warnings about valid envelopes.

  alias McpServer.Envelope.Codes

  @max_warnings 20
  @max_page_size 1_000

  @reserved ~w(request_id warnings pagination rate_limit telemetry)a
  @optional ~w(warnings warning_details pagination rate_limit telemetry dropped_content_ids content_archive_hashes)a

  @doc "Warnings about a valid envelope: at most 20. The envelope is a map of its members."
  @spec warnings(map) :: [McpServer.Envelope.problem()]
  def warnings(%{"data" => data, "meta" => meta} = envelope) do
    about_call = if envelope["success"], do: details(meta), else: missing_fields(data) ++ unexpected(meta)
    warnings = misplaced(data) ++ empty(meta) ++ about_call ++ fidelity(meta) ++ page(meta)
    warnings |> Enum.take(@max_warnings) |> Enum.map(&warning/1)
  end

  defp warning({pointer, reason, text}),
    do: %{level: :warning, pointer: pointer, reason: reason, message: "#{pointer}: #{text}"}

  # The key of a member may be a text or an atom.
  defp member(nil, _name), do: nil
  defp member(map, name), do: Map.get_lazy(map, Atom.to_string(name), fn -> Map.get(map, name) end)

  defp member?(map, name), do: is_map_key(map, Atom.to_string(name)) or is_map_key(map, name)

  defp misplaced(data) do
    for key <- @reserved,
        member?(data, key),
        do: {"/data/#{key}", "reserved_key", "what is about the answer belongs in meta"}
  end

  defp empty(meta) do
    for key <- @optional,
        member(meta, key) in [[], %{}],
        do: {"/meta/#{key}", "empty", "leave it out when there is nothing in it"}
  end

  defp details(meta) do
    for {detail, index} <- Enum.with_index(member(meta, :warning_details) || []),
        key <- ~w(code severity)a,
        not member?(detail, key),
        do: {"/meta/warning_details/#{index}/#{key}", "missing", "a warning should say it"}
  end

  defp missing_fields(data) do
    missing =
      for key <- ~w(error_code error_type remediation)a,
          not member?(data, key),
          do: {"/data/#{key}", "missing", "an error should say it"}

    missing ++ other_type(member(data, :error_code), member(data, :error_type))
  end

  defp other_type(code, type) when code != nil and type != nil do
    case Codes.codes()[to_string(code)] do
      nil ->
        []

      usual ->
        if usual == to_string(type),
          do: [],
          else: [{"/data/error_type", "other_type", "#{code} is of the type #{usual}"}]
    end
  end

  defp other_type(_code, _type), do: []

  defp unexpected(meta) do
    for key <- ~w(warnings warning_details)a,
        member?(meta, key),
        do: {"/meta/#{key}", "unexpected", "warnings are for calls that succeed"}
  end

  defp fidelity(meta) do
    cond do
      (member(meta, :content_fidelity) || "full") in ["full", :full] ->
        for true <- [member?(meta, :dropped_content_ids)],
            do: {"/meta/content_fidelity", "dropped_content", "content was dropped, so it is less than full"}

      member?(meta, :content_fidelity_schema_version) ->
        []

      true ->
        [{"/meta/content_fidelity_schema_version", "missing", "a fidelity below full should come with it"}]
    end
  end

  defp page(meta) do
    size = meta |> member(:pagination) |> member(:page_size)

    if is_number(size) and size > @max_page_size,
      do: [{"/meta/pagination/page_size", "large_page", "a page should have at most #{@max_page_size} items"}],
      else: []
  end
end
