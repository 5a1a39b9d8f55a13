defmodule McpServer.Console.Questions do
  @moduledoc false
  # The developer at the terminal answers a server's requests, as the client's user and model.

  alias McpServer.Console.{Arguments, Text}
  alias McpServer.{JsonRpc, Schema}

  @typedoc "Shows a prompt and returns the typed line. `nil` at the end of input."
  @type gets :: (prompt :: iodata() -> String.t() | nil)

  @doc "The answers of the developer behind `gets`, for a client's `answers:`."
  @spec answers(gets()) :: (String.t(), map() -> map() | {:error, map()})
  def answers(gets), do: &answer(gets, &1, &2)

  defp answer(gets, "elicitation/create", %{"mode" => "url"} = params) do
    ask =
      "The server asks you to open a page: #{Text.safe(params["message"])}\n  #{Text.safe(params["url"])}\nDone? (y/n): "

    if gets.(ask) in ["y", "yes"], do: %{"action" => "accept"}, else: %{"action" => "decline"}
  end

  defp answer(gets, "elicitation/create", params) do
    said = "The server asks: #{Text.safe(params["message"])}\n(!decline or !cancel as an answer refuses)\n"

    case form(gets, said, params["requestedSchema"] || %{}) do
      {:ok, content} -> %{"action" => "accept", "content" => content}
      {:refused, action} -> %{"action" => action}
    end
  end

  defp answer(gets, "sampling/createMessage", params) do
    system = if text = params["systemPrompt"], do: ["system: ", Text.safe(text), "\n"], else: []
    ask = ["The server asks the model:\n", system, Text.messages(params), "Your answer, or nothing to refuse: "]

    case gets.(ask) do
      text when text in [nil, ""] -> {:error, %{"code" => -1, "message" => "User rejected sampling request"}}
      text -> sampled(text)
    end
  end

  defp answer(_gets, method, _params),
    do: {:error, %{"code" => JsonRpc.Error.code(:method_not_found), "message" => "no answer for #{method}"}}

  defp sampled(text) do
    content = %{"type" => "text", "text" => text}
    %{"role" => "assistant", "content" => content, "model" => "person", "stopReason" => "endTurn"}
  end

  # The message is shown before the first field.
  defp form(gets, said, schema) do
    required = List.wrap(schema["required"])

    schema
    |> Arguments.properties()
    |> Enum.sort_by(fn {name, _property} -> {name not in required, name} end)
    |> Enum.reduce_while({:ok, %{}, said}, fn {name, property}, {:ok, content, said} ->
      case field(gets, said, name, property, name in required) do
        {:ok, value} -> {:cont, {:ok, Map.put(content, name, value), ""}}
        :left_out -> {:cont, {:ok, content, ""}}
        {:refused, action} -> {:halt, {:refused, action}}
      end
    end)
    |> confirmed(gets)
  end

  # A form without fields still asks for a confirmation.
  defp confirmed({:ok, content, ""}, _gets), do: {:ok, content}

  defp confirmed({:ok, content, said}, gets),
    do: if(gets.([said, "Accept? (y/n): "]) in ["y", "yes"], do: {:ok, content}, else: {:refused, "decline"})

  defp confirmed(refused, _gets), do: refused

  defp field(gets, said, name, property, required?) do
    case gets.([said, prompt(name, property, required?)]) do
      nil -> {:refused, "cancel"}
      "!cancel" -> {:refused, "cancel"}
      "!decline" -> {:refused, "decline"}
      text -> value(text, property, required?) || field(gets, "  a value is needed\n", name, property, required?)
    end
    |> again(gets, name, property, required?)
  end

  defp again({:wrong, mistake}, gets, name, property, required?),
    do: field(gets, ["  ", mistake, "\n"], name, property, required?)

  defp again(outcome, _gets, _name, _property, _required?), do: outcome

  defp value("", %{"default" => default}, _required?), do: {:ok, default}
  defp value("", _property, false), do: :left_out
  defp value("", _property, true), do: nil

  defp value(text, property, _required?) do
    with {:ok, value} <- typed(text, property),
         :ok <- Schema.validate(property, value) do
      {:ok, value}
    else
      {:error, %Schema.Error{problems: problems}} ->
        {:wrong, "expected " <> Enum.map_join(problems, ", ", & &1.expected)}

      {:error, expected} ->
        {:wrong, "expected #{expected}"}
    end
  end

  # Several elements of a list are separated by commas.
  defp typed(text, %{"type" => "array"} = property) do
    if String.starts_with?(text, "["),
      do: Arguments.value(property, text),
      else: {:ok, text |> String.split(",") |> Enum.map(&String.trim/1)}
  end

  defp typed(text, property), do: Arguments.value(property, text)

  defp prompt(name, property, required?) do
    said = for key <- ["title", "description"], text = property[key], is_binary(text), do: Text.safe(text)
    title = if said == [], do: [], else: [" – ", Enum.join(said, ", ")]
    default = if is_map_key(property, "default"), do: [" [", shown(property["default"]), "]"], else: []
    needed = if required?, do: ", required", else: ""
    ["  ", Text.safe(name), title, " (", choices(property), needed, ")", default, ": "]
  end

  defp choices(%{"oneOf" => [_ | _] = options}), do: titled(options)
  defp choices(%{"type" => "array", "items" => %{"anyOf" => [_ | _] = options}}), do: ["any of ", titled(options)]

  defp choices(%{"type" => "array", "items" => %{"enum" => options}}),
    do: ["any of ", Enum.map_join(options, ", ", &Text.safe/1)]

  defp choices(property), do: Text.safe(Text.type(property, %{}))

  defp titled(options) do
    Enum.map_join(options, ", ", fn option -> "#{Text.safe(option["const"])} = #{Text.safe(option["title"] || "")}" end)
  end

  defp shown(value) when is_binary(value), do: Text.safe(value)
  defp shown(value), do: Text.inline(value)
end
