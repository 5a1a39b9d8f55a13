defmodule Everything.Forms do
  @moduledoc "The forms that users are asked to fill in: JSON Schemas, in the part that clients can show."

  @doc "One text."
  def text(field), do: object(%{field => %{"type" => "string"}})

  @doc "Yes or no."
  def confirmation(field), do: object(%{field => %{"type" => "boolean"}})

  @doc "A name and an address."
  def user do
    object(%{
      "username" => %{"type" => "string", "description" => "User's response"},
      "email" => %{"type" => "string", "description" => "User's email address"}
    })
  end

  @doc "Every type, each with a default."
  def defaults do
    %{
      "type" => "object",
      "properties" => %{
        "name" => %{"type" => "string", "default" => "John Doe"},
        "age" => %{"type" => "integer", "default" => 30},
        "score" => %{"type" => "number", "default" => 95.5},
        "status" => %{"type" => "string", "enum" => ["active", "inactive", "pending"], "default" => "active"},
        "verified" => %{"type" => "boolean", "default" => true}
      }
    }
  end

  @doc "Every way to say what can be chosen."
  def choices do
    titled = for i <- 1..3, do: %{"const" => "value#{i}", "title" => "Option #{i}"}
    plain = for i <- 1..3, do: "option#{i}"

    %{
      "type" => "object",
      "properties" => %{
        "untitledSingle" => %{"type" => "string", "enum" => plain},
        "titledSingle" => %{"type" => "string", "oneOf" => titled},
        "legacyEnum" => %{
          "type" => "string",
          "enum" => ["opt1", "opt2", "opt3"],
          "enumNames" => ["Option One", "Option Two", "Option Three"]
        },
        "untitledMulti" => %{"type" => "array", "items" => %{"type" => "string", "enum" => plain}},
        "titledMulti" => %{"type" => "array", "items" => %{"anyOf" => titled}}
      }
    }
  end

  defp object(properties) do
    %{"type" => "object", "properties" => properties, "required" => properties |> Map.keys() |> Enum.sort()}
  end
end
