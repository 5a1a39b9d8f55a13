defmodule McpServer.ConfirmRouter do
  # Tools that ask for confirmation, and tools that clean up after a cancellation.
  @moduledoc false
  use McpServer.Router, name: "confirm"

  alias McpServer.ConfirmRouter.Handlers

  tool "delete", "Deletes a note", Handlers, :delete do
    input_field "id", "Which", :integer, required: true
  end

  tool "twice", "Asks two questions, and for a reason", Handlers, :twice
  tool "bold", "Runs where nobody can be asked", Handlers, :bold

  prompt "sure", "Asks first", completion: false do
    get Handlers, :sure
  end

  tool "slow", "Cleans up", Handlers, :slow, cancel_grace: 30_000, timeout: 60_000, task_support: :optional
  tool "stubborn", "Cleans up for ever", Handlers, :stubborn, cancel_grace: 50, timeout: 60_000

  # For a server in another VM. A file shows how the call ended.
  for {name, timeout} <- [{"tidy", 60_000}, {"tidy_late", 500}] do
    tool name, "Notes its end", Handlers, :tidy, cancel_grace: 30_000, timeout: timeout do
      input_field "file", "Where", :string, required: true
    end
  end

  tool "plain", "Is killed", Handlers, :slow, timeout: 60_000
end

defmodule McpServer.ConfirmRouter.Handlers do
  @moduledoc false
  use McpServer.Controller

  @reason %{"type" => "object", "properties" => %{"why" => %{"type" => "string"}}}

  def delete(conn, %{"id" => id}), do: confirm(conn, "Delete note #{id}?", fn -> {:ok, "Deleted note #{id}"} end)

  # The handler's state from before the first question is available after the last one.
  def twice(conn, _arguments) do
    case state(conn) do
      nil -> input_required([], state: "begun")
      "begun" -> confirm(conn, "Really?", fn -> confirm(conn, "Really, really?", fn -> reason(conn) end) end)
    end
  end

  defp reason(conn) do
    case accepted(conn, "reason") do
      %{"why" => why} -> {:ok, "#{state(conn)}, because #{why}"}
      nil -> input_required([reason: elicit("Why?", @reason)], state: state(conn))
    end
  end

  def bold(conn, _arguments), do: confirm(conn, "Go on?", fn -> {:ok, "went on"} end, unsupported: :run)
  def sure(conn, _arguments), do: confirm(conn, "Sure?", fn -> "Sure!" end)

  def slow(conn, _arguments) do
    test = conn.assigns[:test]
    Process.flag(:trap_exit, true)
    send(test, {:started, self()})

    receive do
      {:EXIT, _from, reason} -> send(test, {:cleaned_up, reason})
    end

    {:error, "cancelled"}
  end

  def tidy(_conn, %{"file" => file}) do
    Process.flag(:trap_exit, true)
    File.write!(file, "started")

    receive do
      {:EXIT, _from, reason} -> File.write!(file, inspect(reason))
    end
  end

  def stubborn(conn, _arguments) do
    Process.flag(:trap_exit, true)
    send(conn.assigns[:test], {:started, self()})
    Process.sleep(:infinity)
  end
end
