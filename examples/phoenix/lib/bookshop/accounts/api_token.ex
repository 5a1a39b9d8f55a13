defmodule Bookshop.Accounts.ApiToken do
  @moduledoc "An API token of a customer. Only its digest is stored: who reads the table learns no token."
  use Ecto.Schema

  schema "api_tokens" do
    field :digest, :binary, redact: true
    belongs_to :customer, Bookshop.Accounts.Customer
    timestamps type: :utc_datetime, updated_at: false
  end
end
