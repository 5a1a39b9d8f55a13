defmodule Bookshop.Accounts do
  @moduledoc """
  The customers, and the API tokens that their MCP clients send.

  `create_user_api_token/1` and `fetch_user_by_api_token/1` are those of Phoenix's guide to API authentication. In an
  application with `mix phx.gen.auth`, `mix mcp.gen phoenix` writes such functions for its table of tokens.
  """
  import Ecto.Query

  alias Bookshop.Accounts.{ApiToken, Customer}
  alias Bookshop.Repo

  def create_customer!(name), do: Repo.insert!(%Customer{name: name})

  def get_customer(id), do: Repo.get(Customer, id)

  @doc "A new token of a customer, which is shown this once."
  def create_user_api_token(customer) do
    token = Base.url_encode64(:crypto.strong_rand_bytes(32), padding: false)
    put_user_api_token!(customer, token)
    token
  end

  def put_user_api_token!(customer, token),
    do: Repo.insert!(%ApiToken{customer_id: customer.id, digest: digest(token)})

  @doc "Whose token that is: `{:ok, customer}` or `:error`."
  def fetch_user_by_api_token(token) do
    digest = digest(token)

    query =
      from token in ApiToken,
        join: customer in assoc(token, :customer),
        where: token.digest == ^digest,
        select: customer

    with nil <- Repo.one(query), do: :error, else: (customer -> {:ok, customer})
  end

  @doc "From now on the token is nobody's."
  def delete_user_api_token(token) do
    digest = digest(token)
    Repo.delete_all(from token in ApiToken, where: token.digest == ^digest)
    :ok
  end

  # Looked up by its digest, no token is found by how long a wrong one takes.
  defp digest(token), do: :crypto.hash(:sha256, token)
end
