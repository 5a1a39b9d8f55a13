defmodule Bookshop.Accounts.Customer do
  @moduledoc false
  use Ecto.Schema

  schema "customers" do
    field :name, :string
    timestamps type: :utc_datetime
  end
end
