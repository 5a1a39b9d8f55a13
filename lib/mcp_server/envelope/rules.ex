defmodule McpServer.Envelope.Rules do
  @moduledoc false
  # The rules for an envelope as a JSON Schema, which is compiled once.

  alias McpServer.Envelope.Codes
  alias McpServer.JSON.EncodeError
  alias McpServer.Schema.Validator

  @type problem :: McpServer.Envelope.problem()

  @object %{"type" => "object"}
  @string %{"type" => "string"}
  @boolean %{"type" => "boolean"}
  @strings %{"type" => "array", "items" => @string}
  # A text that is not blank.
  @text %{"type" => "string", "pattern" => "\\S"}
  @count %{"type" => "integer", "minimum" => 0}
  @ordinal %{"type" => "integer", "minimum" => 1}
  @duration %{"type" => "number", "minimum" => 0}
  @time %{
    "type" => "string",
    "pattern" => "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2})$"
  }

  @warning %{
    "type" => "object",
    "properties" => %{
      "code" => @string,
      "severity" => %{"enum" => ["info", "warning", "error"]},
      "message" => @text,
      "context" => @object
    },
    "required" => ["message"]
  }

  @pagination %{
    "type" => "object",
    "properties" => %{
      "cursor" => %{"type" => ["string", "null"]},
      "has_more" => @boolean,
      "total_count" => @count,
      "page_size" => @ordinal,
      "page" => @ordinal
    }
  }

  @rate_limit %{
    "type" => "object",
    "properties" => %{
      "limit" => @count,
      "remaining" => @count,
      "reset_at" => @time,
      "period" => @string,
      "retry_after" => @duration
    }
  }

  @telemetry %{
    "type" => "object",
    "properties" => %{"duration_ms" => @duration, "downstream_calls" => @count, "cache_hit" => @boolean}
  }

  @meta %{
    "type" => "object",
    "properties" => %{
      "version" => %{"const" => "response-v2"},
      "request_id" => %{"type" => "string", "pattern" => "^[A-Za-z0-9_-]+$"},
      "warnings" => @strings,
      "warning_details" => %{"type" => "array", "items" => @warning},
      "pagination" => @pagination,
      "rate_limit" => @rate_limit,
      "telemetry" => @telemetry,
      "content_fidelity" => %{"enum" => ["full", "partial", "summary", "reference_only"]},
      "content_fidelity_schema_version" => @string,
      "dropped_content_ids" => @strings,
      "content_archive_hashes" => %{"type" => "object", "additionalProperties" => @string}
    },
    "required" => ["version"]
  }

  @error_data %{
    "properties" => %{
      "error_code" => %{"type" => "string", "pattern" => Codes.code_pattern()},
      "error_type" => %{"enum" => Codes.types()},
      "remediation" => @string,
      "details" => @object
    }
  }

  @known_data ~w(error_code error_type remediation details) ++ ~w(error_code error_type remediation details)a

  @schema %{
    "type" => "object",
    "properties" => %{
      "success" => @boolean,
      "data" => @object,
      "error" => %{"type" => ["string", "null"]},
      "meta" => @meta
    },
    "required" => ["success", "data", "error", "meta"],
    "additionalProperties" => false,
    "if" => %{"properties" => %{"success" => %{"const" => true}}},
    "then" => %{"properties" => %{"error" => %{"type" => "null"}}},
    "else" => %{"properties" => %{"error" => @text, "data" => @error_data}}
  }

  @doc "The schema. A success's `data` can be any object."
  @spec schema() :: map
  def schema, do: @schema

  @doc "The problems of an envelope: at most 20. The envelope is a map of its members with text keys."
  @spec problems(term) :: [problem]
  def problems(envelope) do
    case Validator.check(validator(), shallow(envelope)) do
      :ok -> []
      {:error, %EncodeError{} = error} -> [unwritable(error)]
      {:error, problems} -> Enum.map(problems, &problem(&1.pointer, &1.keyword, &1.message))
    end
  end

  defp validator do
    with nil <- :persistent_term.get(__MODULE__, nil) do
      {:ok, validator} = Validator.compile(@schema)
      :persistent_term.put(__MODULE__, validator)
      validator
    end
  end

  # Removes data that the schema does not check, because it may be large.
  defp shallow(%{"data" => data} = envelope) when is_map(data) and not is_struct(data) do
    %{envelope | "data" => data |> Map.take(@known_data) |> Map.new(&emptied/1)}
  end

  defp shallow(envelope), do: envelope

  defp emptied({key, details}) when key in ["details", :details] and is_map(details) and not is_struct(details),
    do: {key, %{}}

  defp emptied(member), do: member

  defp unwritable(error) do
    pointer = Enum.map_join(error.path, &"/#{&1}")
    problem(pointer, Atom.to_string(error.kind), Exception.message(error))
  end

  defp problem(pointer, reason, message), do: %{level: :error, pointer: pointer, reason: reason, message: message}
end
