defmodule McpServer.ArgumentsRouter do
  @moduledoc false
  # A server whose tools show the arguments that they get.

  defmodule Note do
    @moduledoc false
    @enforce_keys [:title]
    defstruct [:title, :on, :author, tags: [], stars: 3]
  end

  defmodule Author do
    @moduledoc false
    defstruct [:name, role: "reader"]
  end

  use McpServer.Router, name: "arguments"

  tool "plain", "Shows", __MODULE__, :show do
    input_field "title", "The title", :string
    input_field "count", "How many", :integer
  end

  tool "defaults", "Shows", __MODULE__, :show do
    input_field "limit", "How many", :integer, default: 10

    input_field "filter", "Which", :object do
      field "state", "The state", :string, enum: ["open", "done"], default: "open"

      field "by", "Whose", :object, default: %{} do
        field "name", "The name", :string, default: "anyone"
      end
    end

    input_field "lines", "The lines", :array do
      items :object do
        field "text", "The text", :string
        field "level", "The level", :integer, default: 1
      end
    end
  end

  tool "whole", "Shows", __MODULE__, :show,
    input_schema: %{
      "type" => "object",
      "properties" => %{
        "limit" => %{"type" => "integer", "default" => 10},
        "either" => %{"anyOf" => [%{"properties" => %{"x" => %{"default" => 1}}}]}
      }
    }

  tool "casts", "Shows", __MODULE__, :show do
    input_field "date", "A date", :date
    input_field "time", "A time", [:time, :null]
    input_field "datetime", "A time", :datetime
    input_field "naive", "A time", :naive_datetime, default: "2026-01-31T09:30:00"
    input_field "uuid", "An id", :uuid
    input_field "uri", "An address", :uri
    input_field "days", "Days", :array, items: :date

    input_field "inside", "An object", :object do
      field "dates", "Dates", :array do
        items :date
      end
    end
  end

  tool "atoms", "Shows", __MODULE__, :show, arguments: :atoms do
    input_field "title", "The title", :string
    input_field "limit", "How many", :integer, default: 10
    input_field "free", "Anything", :object

    input_field "lines", "The lines", :array do
      items :object, undeclared: :pass do
        field "text", "The text", :string
      end
    end
  end

  tool "drop", "Shows", __MODULE__, :show, undeclared: :drop do
    input_field "title", "The title", :string

    input_field "inside", "An object", :object do
      field "a", "A", :string
    end

    input_field "closed", "An object", :object, undeclared: :refuse do
      field "a", "A", :string
    end
  end

  tool "pass", "Shows", __MODULE__, :show, undeclared: :pass do
    input_field "title", "The title", :string
  end

  tool "struct", "Shows", __MODULE__, :show, struct: Note do
    input_field "title", "The title", :string, required: true
    input_field "on", "The day", :date

    input_field "author", "Who", :object, struct: Author do
      field "name", "The name", :string
    end
  end

  tool "short", "Shows", arguments: :atoms do
    input title: {:string, "The title", max_length: 8}, days: {[:date], "Days", default: ["2026-01-31"]}
    run &show/2
  end

  @doc false
  def show(_conn, arguments), do: {:ok, McpServer.Controller.text(inspect(arguments, limit: :infinity))}
end
