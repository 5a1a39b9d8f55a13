if McpServer.Installed.here?(:proper) do
  defmodule McpServer.Envelope.PropertyTest do
    # Properties of every envelope, checked with the optional PropEr (Debian's `erlang-proper`).
    use ExUnit.Case, async: true
    use McpServer.Properties, only: [forall: 2, holds: 3]

    alias McpServer.{Envelope, JSON}

    @moduletag McpServer.Installed.tags(:proper)

    @meta_keys ~w(content_archive_hashes content_fidelity content_fidelity_schema_version dropped_content_ids pagination
                  rate_limit request_id telemetry version warning_details warnings)

    defp holds(type, fun) do
      holds(forall(type, fun), 200, 20)
    end

    defp text, do: :proper_unicode.utf8(8)
    defp count, do: :proper_types.non_neg_integer()
    defp one_of(values), do: :proper_types.oneof(values)
    defp perhaps(type), do: one_of([nil, type])
    defp made(type, fun), do: :proper_types.bind(type, fun, false)
    defp key, do: made(text(), &("k" <> &1))
    defp object(value), do: made(:proper_types.list({key(), value}), &Map.new/1)

    defp value, do: one_of([:proper_types.integer(), :proper_types.float(), text(), :proper_types.boolean(), nil])
    defp data, do: object(one_of([value(), :proper_types.list(value()), object(value())]))

    defp warning do
      made({text(), one_of(["STALE_CACHE", "OWN", nil]), perhaps("info")}, fn {message, code, severity} ->
        %{message: "m" <> message, code: code, severity: severity}
      end)
    end

    defp success_options do
      made(
        {perhaps("req_1"), :proper_types.list(text()), :proper_types.list(warning()), perhaps({count(), count()}),
         one_of([nil, :full, :partial, "summary", :reference_only]), :proper_types.list(text()), object(value())},
        fn {id, warnings, details, page, fidelity, dropped, meta} ->
          [
            request_id: id,
            warnings: warnings,
            warning_details: details,
            pagination: page && %{has_more: elem(page, 0) > 0, total_count: elem(page, 1)},
            content_fidelity: fidelity,
            dropped_content_ids: dropped,
            meta: Map.put(meta, "version", "response-v0")
          ]
        end
      )
    end

    defp failure_options do
      codes = [nil, :own, "E1" | Map.keys(Envelope.error_codes())]

      made({one_of(codes), perhaps(one_of(Envelope.error_types())), perhaps(text()), object(value()), data()}, fn
        {code, type, remediation, details, data} ->
          [error_code: code, error_type: type, remediation: remediation, details: details, data: data]
      end)
    end

    defp envelope do
      one_of([
        made({data(), success_options()}, fn {data, options} -> Envelope.success(data, options) end),
        made({text(), failure_options()}, fn {message, options} -> Envelope.error("m" <> message, options) end)
      ])
    end

    @tag req: ["S2-01", "S2-02", "S2-03", "S2-04", "S2-05", "S2-06"]
    test "every envelope that can be made has the four keys, and they agree" do
      holds(envelope(), fn envelope ->
        wire = envelope |> JSON.encode!() |> JSON.decode!()

        Map.keys(wire) == ~w(data error meta success) and
          is_boolean(wire["success"]) and is_map(wire["data"]) and
          wire["success"] == (wire["error"] == nil) and
          (wire["success"] or (is_binary(wire["error"]) and wire["error"] != "")) and
          wire["meta"]["version"] == "response-v2" and
          Enum.all?(Map.take(wire["meta"], @meta_keys), fn {_key, value} -> value not in [nil, [], %{}] end)
      end)
    end

    @tag req: ["S2-01", "S2-02", "S2-03", "S2-04", "S2-05", "S2-06"]
    test "and is valid, as a struct, as what a client reads, and for its own schema" do
      {:ok, validator} = McpServer.Schema.Validator.compile(Envelope.schema())

      holds(envelope(), fn envelope ->
        wire = envelope |> JSON.encode!() |> JSON.decode!()

        match?({:ok, _warnings}, Envelope.validate(envelope)) and
          Envelope.validate(envelope) == Envelope.validate(wire) and
          McpServer.Schema.Validator.validate(validator, wire) == :ok
      end)
    end

    @tag req: ["S2-04", "S2-05"]
    test "an envelope with one part changed is not" do
      holds({envelope(), one_of(~w(success data error meta)), one_of([1, [], "x" <> <<0>>])}, fn {envelope, key, other} ->
        wire = envelope |> JSON.encode!() |> JSON.decode!()
        changed = Map.put(wire, key, if(key == "error", do: wire["success"] && "x", else: other))
        match?({:error, [_ | _]}, Envelope.validate(changed))
      end)
    end

    @tag req: "RES-41"
    test "the text of a result is the JSON of its structured content" do
      holds(envelope(), fn envelope ->
        {:ok, result} = Envelope.to_call_result(envelope, "req_1")
        result = result |> JSON.encode!() |> JSON.decode!()
        [%{"text" => text}] = result["content"]

        JSON.decode!(text) == result["structuredContent"] and text == JSON.encode!(with_id(envelope)) and
          result["isError"] == not envelope.success
      end)
    end

    test "structured content as text is what the encoder makes of it, compact and pretty" do
      holds({data(), one_of([:compact, :pretty])}, fn {data, form} ->
        content = [%McpServer.Content.Text{text: {:structured_content, form}}]
        result = %McpServer.Tool.CallResult{content: content, structured_content: data}
        %{"content" => [%{"text" => text}], "structuredContent" => sent} = result |> JSON.encode!() |> JSON.decode!()
        sent == data and text == JSON.encode!(data, pretty: form == :pretty)
      end)
    end

    defp with_id(envelope), do: %{envelope | meta: Map.put_new(envelope.meta, "request_id", "req_1")}
  end
end
