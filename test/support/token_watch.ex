defmodule McpServer.TokenWatch do
  # Looks for signed access tokens in everything that is logged during the suite, and fails the suite if there is one.
  @moduledoc false

  alias McpServer.TestLog

  @doc "Watches the log until the suite ends."
  @spec start() :: :ok
  def start do
    :ets.new(__MODULE__, [:named_table, :public])
    TestLog.subscribe(&look/1)
    ExUnit.after_suite(fn _results -> check!() end)
  end

  defp look(event) do
    text = event |> :logger_formatter.format(%{template: [:msg], single_line: false}) |> IO.chardata_to_string()
    if token?(text), do: :ets.insert(__MODULE__, {make_ref(), text})
  end

  # The three segments of a signed token. The first one begins with `{"`.
  defp token?(text), do: text =~ ~r/eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/

  @doc "The logged texts with a token."
  @spec told() :: [String.t()]
  def told, do: for({_reference, text} <- :ets.tab2list(__MODULE__), do: text)

  defp check! do
    case told() do
      [] -> :ok
      texts -> raise "an access token was logged:\n" <> Enum.join(texts, "\n")
    end
  end
end
