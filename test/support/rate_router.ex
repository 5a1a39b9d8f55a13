defmodule McpServer.RateRouter do
  # Calls with rate limits. The arguments name the client, so each test has separate buckets.
  @moduledoc false
  use McpServer.Router, name: "rate"

  alias McpServer.RateLimit
  alias McpServer.RateRouter.Handlers

  @hour 3_600_000

  plug McpServer.Log, level: :notice

  tool "once", "Once an hour", Handlers, :run do
    input_field "who", "Who asks", :string, required: true
    plug RateLimit, limit: 1, per: @hour, by: {Handlers, :who}
  end

  tool "twice", "Twice an hour", Handlers, :run do
    input_field "who", "Who asks", :string, required: true
    plug RateLimit, limit: 2, per: @hour, by: &Handlers.who/1
  end

  tool "each", "Once for each principal", Handlers, :run do
    plug RateLimit, limit: 1, per: @hour
  end

  tool "session", "Once for each session", Handlers, :run do
    plug RateLimit, limit: 1, per: @hour, by: :session
  end

  tool "peer", "Once for each address", Handlers, :run do
    plug RateLimit, limit: 1, per: @hour, by: :peer
  end

  tool "told", "Once an hour, with a refusal that models read", Handlers, :run do
    input_field "who", "Who asks", :string, required: true
    plug RateLimit, limit: 1, per: @hour, by: {Handlers, :who}, status: 200
  end

  tool "monthly", "Once in thirty days", Handlers, :run do
    plug RateLimit, limit: 1, per: 30 * 24 * @hour, by: :session
  end

  tool "busy", "What it calls is busy", Handlers, :busy

  tool "shown", "Its arguments are logged", Handlers, :run do
    input_field "who", "Who asks", :string, required: true
    plug McpServer.Log, arguments: true
  end

  tool "fails", "Fails", Handlers, :fail
  tool "raises", "Raises", Handlers, :boom

  tool "late", "Is killed", Handlers, :sleep, timeout: 50
  tool "wrong", "Returns nothing that a tool may return", Handlers, :wrong
  tool "asked", "Asks for consent", Handlers, :confirmed

  tool "film", "Renders", Handlers, :film, task_support: :optional, task_start: :handler do
    input_field "who", "Who asks", :string, required: true
    plug RateLimit, limit: 1, per: @hour, by: {Handlers, :who}
  end

  # Both limits count a call once, with its answers.
  scope do
    plug RateLimit, limit: 1, per: @hour, by: {Handlers, :who}

    tool "confirmed", "Asks for consent", Handlers, :confirmed do
      input_field "who", "Who asks", :string, required: true
      plug RateLimit, limit: 1, per: @hour, by: {Handlers, :who}
    end
  end

  # Nobody is limited by the first of them.
  scope do
    plug RateLimit, limit: 1, per: @hour, by: {Handlers, :nobody}

    tool "inner", "Asks for consent", Handlers, :confirmed do
      input_field "who", "Who asks", :string, required: true
      plug RateLimit, limit: 1, per: @hour, by: {Handlers, :who}
    end
  end

  tool "stateless", "Asks without a state", Handlers, :asks do
    input_field "who", "Who asks", :string, required: true
    plug RateLimit, limit: 1, per: @hour, by: {Handlers, :who}
  end

  tool "nested", "Asks with a form that no revision has", Handlers, :nested do
    plug RateLimit, limit: 1, per: @hour
  end

  tool "insists", "Asks for ever", Handlers, :insists do
    input_field "who", "Who asks", :string, required: true
    plug RateLimit, limit: 1, per: @hour, by: {Handlers, :who}
  end

  tool "premiere", "Asks, then renders", Handlers, :premiere, task_support: :optional, task_start: :handler do
    input_field "who", "Who asks", :string, required: true
    plug RateLimit, limit: 1, per: @hour, by: {Handlers, :who}
  end

  prompt "hello", "Once an hour", completion: false do
    argument "who", "Who asks", required: true
    plug RateLimit, limit: 1, per: @hour, by: {Handlers, :who}
    get Handlers, :hello
  end
end

defmodule McpServer.RateRouter.Handlers do
  @moduledoc false
  use McpServer.Controller

  def run(_conn, _arguments), do: {:ok, "done"}
  def busy(_conn, _arguments), do: {:error, {:retry_after, 7}}
  def fail(_conn, _arguments), do: {:error, "no"}
  def boom(_conn, _arguments), do: raise("boom")
  def sleep(_conn, _arguments), do: Process.sleep(:infinity)
  def wrong(_conn, _arguments), do: :wrong
  def hello(_conn, _arguments), do: "Hello"
  def film(_conn, _arguments), do: as_task(fn _conn -> {:ok, "rendered"} end)

  def confirmed(conn, _arguments), do: confirm(conn, "Sure?", fn -> {:ok, "done"} end)

  def asks(conn, _arguments) do
    if accepted(conn, "sure"), do: {:ok, "done, #{inspect(state(conn))}"}, else: input_required(sure: sure())
  end

  def nested(_conn, _arguments) do
    nested = %{"type" => "object", "properties" => %{"a" => %{"type" => "object"}}}
    input_required(sure: elicit("Sure?", nested))
  end

  def insists(conn, _arguments) do
    rounds = (state(conn) || 0) + 1
    input_required([sure: sure("#{rounds}?")], state: rounds)
  end

  def premiere(conn, _arguments),
    do: confirm(conn, "Sure?", fn -> as_task(fn conn -> {:ok, "rendered, #{inspect(state(conn))}"} end) end)

  defp sure(text \\ "Sure?"), do: elicit(text, %{"type" => "object", "properties" => %{}})

  def nobody(_conn), do: nil
  def who(conn), do: if(conn.called.arguments["who"] != "friend", do: conn.called.arguments["who"])
end
