defmodule McpServer.DebugRouter do
  # Tells clients why a call failed.
  @moduledoc false
  use McpServer.Router, name: "debug", debug_errors: true

  alias McpServer.DebugRouter.Handlers

  tool "raise", "Raises", Handlers, :boom
  tool "invalid", "Returns nonsense", Handlers, :invalid
  tool "rows", "Returns a list of data", Handlers, :rows
  tool "match", "Matches no clause", Handlers, :match
  tool "slow", "Never ends", Handlers, :slow, timeout: 50
  tool "kill", "Ends its own process", Handlers, :kill, task_support: :optional

  prompt "raise", "Raises", completion: false do
    get Handlers, :boom
  end
end

defmodule McpServer.DebugRouter.Handlers do
  @moduledoc false
  def boom(_conn, _arguments), do: raise("boom")
  def invalid(_conn, _arguments), do: :done
  def rows(_conn, _arguments), do: [%{id: 1, title: "secret"}, %URI{host: "secret"}]
  def match(%{principal: "ada"}, %{"secret" => secret}) when is_binary(secret), do: secret
  def match(_conn, %{"id" => id}) when is_integer(id), do: id
  def slow(_conn, _arguments), do: Process.sleep(:infinity)
  def kill(_conn, _arguments), do: Process.exit(self(), :kill)
end
