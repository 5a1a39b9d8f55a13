defmodule Corpora.Strings do
  # The naughty strings, sent to a server in this VM: as values and names that it returns, and as unknown names and
  # URIs.

  alias McpServer.{JSON, Test}
  alias Corpora.Strings.Router

  @patient [receive_timeout: 60_000]

  def rows(folder) do
    {:ok, _apps} = Application.ensure_all_started(:mcp_server)
    strings = Path.join(folder, "naughty-strings/blns.json") |> File.read!() |> JSON.decode!()

    for {place, judge} <- [
          {"as JSON", &json/1},
          {"as an argument", &argument/1},
          {"as a name of an argument", &argument_name/1},
          {"as a name of a tool", &unknown(Test.call_tool(Router, &1, %{}, @patient))},
          {"as a name of a prompt", &unknown(Test.get_prompt(Router, &1, %{}, @patient))},
          {"as a URI", &unknown(Test.read_resource(Router, &1, @patient))}
        ] do
      results = for {string, number} <- Enum.with_index(strings, 1), do: {"#{number}", judge.(string)}
      {"naughty strings, #{place}", results}
    end
  end

  defp json(string) do
    value = %{string => [string]}
    if JSON.decode(JSON.encode!(value)) == {:ok, value}, do: :passed, else: "changed"
  end

  defp argument(string) do
    case Test.call_tool(Router, "echo", %{"text" => string}, @patient) do
      {:ok, %{"content" => [%{"text" => ^string}]}} -> :passed
      other -> inspect(other)
    end
  end

  defp argument_name(string) do
    names = JSON.encode!([string])

    case Test.call_tool(Router, "names", %{string => 1}, @patient) do
      {:ok, %{"content" => [%{"text" => ^names}]}} -> :passed
      other -> inspect(other)
    end
  end

  defp unknown({:error, %{"code" => -32602}}), do: :passed
  defp unknown(other), do: inspect(other)
end

defmodule Corpora.Strings.Handlers do
  import McpServer.Controller

  def echo(_conn, %{"text" => text}), do: {:ok, [text(text)]}
  def names(_conn, arguments), do: {:ok, [text(arguments |> Map.keys() |> McpServer.JSON.encode!())]}
end

defmodule Corpora.Strings.Router do
  use McpServer.Router, name: "corpora"

  alias Corpora.Strings.Handlers

  tool "echo", "Gives the text back", Handlers, :echo do
    input_field "text", "Any text", :string, required: true
  end

  tool "names", "Gives the names of its arguments back", Handlers, :names, input_schema: %{"type" => "object"}

  prompt "fixed", "There is one prompt" do
    get Handlers, :echo
  end

  resource "fixed", "corpora://fixed" do
    description "There is one resource"
    read Handlers, :echo
  end
end
