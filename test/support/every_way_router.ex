defmodule McpServer.EveryWayRouter do
  # Tools, a prompt and resources for test/protocol/every_way_test.exs: one of each thing that authors write.
  @moduledoc false
  use McpServer.Router, name: "every-way", undeclared: :drop

  defmodule Inner do
    @moduledoc false
    use McpServer.Router, name: "inner"

    tool "hello", "Says hello" do
      run fn _conn, _arguments -> "hello" end
    end
  end

  include Inner, prefix: "in_"
  include Inner, prefix: "closed_", authorize: {__MODULE__, :never}

  tool "text", "Returns a text", __MODULE__, :text
  tool "ok_text", "Returns a text in a tuple", __MODULE__, :ok_text
  tool "map", "Returns a map", __MODULE__, :map
  tool "failure", "Returns an exception", __MODULE__, :failure
  tool "rows", "Returns a list that is no content", __MODULE__, :rows

  tool "nested", "Shows its arguments" do
    input_field "page", "Which rows", :object do
      input_field "size", "How many", :integer, default: 20
    end

    run fn _conn, arguments -> arguments |> McpServer.JSON.encode!() |> IO.iodata_to_binary() end
  end

  tool "hidden", "Is not there", __MODULE__, :text, visible: {__MODULE__, :never}
  tool "refused", "Refuses with a text", __MODULE__, :text, authorize: {__MODULE__, :why}, listed: :always

  prompt "greet", "Returns a text", completion: false do
    get __MODULE__, :text
  end

  prompt "complete", "Completes with a list" do
    argument "name", "Whom"
    get __MODULE__, :text
    complete __MODULE__, :names
  end

  resource "hidden", "every://hidden", visible: {__MODULE__, :never} do
    read __MODULE__, :text
  end

  def text(_conn, _arguments), do: "hello"
  def ok_text(_conn, _arguments), do: {:ok, "hello"}
  def map(_conn, _arguments), do: %{sum: 3}
  def failure(_conn, _arguments), do: {:error, %RuntimeError{message: "hello"}}
  def rows(_conn, _arguments), do: [%{id: 1}, %{id: 2}]
  def names(_conn, "name", prefix), do: [prefix <> "a", prefix <> "b"]
  def never(_conn), do: false
  def why(_conn), do: {:error, "Ask your admin"}
end
