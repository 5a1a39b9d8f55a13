defmodule Bookshop.Accounts do
  @moduledoc """
  The customers' API tokens, which their MCP clients send.

  `create_user_api_token/1` and `fetch_user_by_api_token/1` are those of Phoenix's guide to API authentication, which
  keeps the tokens in the table of `mix phx.gen.auth`. Here a process keeps them until the application stops. It knows
  their digests only: who reads it learns no token.
  """
  use Agent

  @doc "Starts with the tokens of the configuration."
  def start_link(_options), do: Agent.start_link(&configured/0, name: __MODULE__)

  defp configured,
    do: Map.new(Application.fetch_env!(:bookshop, :tokens), fn {token, user} -> {digest(token), user} end)

  @doc "A new token of a customer, which is shown this once."
  def create_user_api_token(user) do
    token = Base.url_encode64(:crypto.strong_rand_bytes(32), padding: false)
    Agent.update(__MODULE__, &Map.put(&1, digest(token), user))
    token
  end

  @doc "Whose token that is: `{:ok, user}` or `:error`."
  def fetch_user_by_api_token(token), do: Agent.get(__MODULE__, &Map.fetch(&1, digest(token)))

  @doc "From now on the token is nobody's."
  def delete_user_api_token(token), do: Agent.update(__MODULE__, &Map.delete(&1, digest(token)))

  # Looked up by its digest, no token is found by how long a wrong one takes.
  defp digest(token), do: :crypto.hash(:sha256, token)
end
