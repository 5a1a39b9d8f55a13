defmodule McpServer.Router.PromptBlock do
  @moduledoc """
  The statements inside `prompt … do`.

      prompt "review", "Reviews code" do
        argument "language", "Programming language", required: true
        get MyApp.Prompts, :review
        complete MyApp.Prompts, :complete_review
      end
  """

  alias McpServer.Router.{Handler, PromptDefinition, Refusal, Statement}

  @doc "An argument of the prompt. Options: `required:` (`false`) and `title:`."
  defmacro argument(name, description \\ [], options \\ []) do
    quote do
      PromptDefinition.put_argument!(
        __MODULE__,
        unquote(name),
        unquote(description),
        unquote(options),
        unquote(Statement.tail([description, options], false)),
        unquote(Refusal.place(__CALLER__))
      )
    end
  end

  @doc "The function that returns the messages: `fun(conn, arguments)`."
  defmacro get(controller, function \\ []),
    do: Handler.declare(PromptDefinition, :get, controller, function, __CALLER__)

  @doc """
  The function that completes an argument: `fun(conn, name, prefix)`. With `arguments: :atoms` the name is an atom.

  `McpServer.Conn.get_private(conn, :completion_context)` is a map of the arguments that the user has already filled in,
  if the client sends them (since 2025-06-18).
  """
  defmacro complete(controller, function \\ []),
    do: Handler.declare(PromptDefinition, :complete, controller, function, __CALLER__)
end
