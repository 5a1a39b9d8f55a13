defmodule Everything.ContactSchema do
  @moduledoc "A JSON Schema written by hand: what fields alone cannot say, a tool's `input_schema:` can."

  @string %{"type" => "string"}

  @doc "A contact, reachable by phone or by e-mail."
  def schema do
    %{
      "$schema" => "https://json-schema.org/draft/2020-12/schema",
      "type" => "object",
      "$defs" => %{
        "address" => %{
          "$anchor" => "addressDef",
          "type" => "object",
          "properties" => %{"street" => @string, "city" => @string}
        }
      },
      "properties" => %{
        "name" => @string,
        "address" => %{"$ref" => "#/$defs/address"},
        "contactMethod" => %{"type" => "string", "enum" => ["phone", "email"]},
        "phone" => @string,
        "email" => @string
      },
      "allOf" => [%{"anyOf" => [%{"required" => ["phone"]}, %{"required" => ["email"]}]}],
      "if" => %{
        "properties" => %{"contactMethod" => %{"const" => "phone"}},
        "required" => ["contactMethod"]
      },
      "then" => %{"required" => ["phone"]},
      "else" => %{"required" => ["email"]},
      "additionalProperties" => false
    }
  end
end
