defmodule Everything.Jobs do
  @moduledoc """
  Tools whose calls may go on as tasks.

  Nothing here knows whether its call is a task, but for `rename/2`, which becomes one when it has what it needs.
  """
  use McpServer.Controller

  import Everything.Question

  alias Everything.Forms
  alias McpServer.JsonRpc

  def greet(_conn, %{"name" => name}), do: {:ok, [text("Hello, #{name}!")]}

  def compute(conn, args) do
    progress(conn, 0, 1, "computing #{args["label"]}")
    Process.sleep(round(args["seconds"] * 1_000))
    {:ok, [text("Computed #{args["label"]}.")]}
  end

  def fail(_conn, _args) do
    Process.sleep(1_000)
    {:error, "This job always fails"}
  end

  def break(_conn, _args), do: {:error, JsonRpc.Error.new(code: -32_603, message: "The job broke off")}

  def delete(conn, %{"filename" => filename}) do
    case input(conn, "confirmation") do
      nil -> ask(conn, confirmation: elicit("Delete #{filename}?", Forms.confirmation("confirm")))
      %{"action" => "accept"} -> {:ok, [text("Deleted #{filename}.")]}
      _declined -> {:ok, [text("Kept #{filename}.")]}
    end
  end

  def two_names(conn, _args) do
    case {accepted(conn, "first"), accepted(conn, "second")} do
      {%{"name" => first}, %{"name" => second}} -> {:ok, [text("Hello, #{first} and #{second}!")]}
      _missing -> ask(conn, first: name("First"), second: name("Second"))
    end
  end

  def rename(conn, _args) do
    case accepted(conn, "user_name") do
      %{"name" => name} -> as_task(fn _conn -> {:ok, [text("Hello, #{name}!")]} end)
      _missing -> ask(conn, user_name: name("Your"))
    end
  end

  defp name(whose), do: elicit("#{whose} name?", Forms.text("name"))
end
