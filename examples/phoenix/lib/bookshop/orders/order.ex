defmodule Bookshop.Orders.Order do
  @moduledoc false
  use Ecto.Schema
  import Ecto.Changeset

  schema "orders" do
    field :isbn, :string
    field :copies, :integer, default: 1
    belongs_to :customer, Bookshop.Accounts.Customer
    timestamps type: :utc_datetime
  end

  def changeset(order, attributes) do
    order
    |> cast(attributes, [:isbn, :copies])
    |> validate_required([:isbn, :copies])
    |> validate_number(:copies, greater_than: 0, less_than_or_equal_to: 10)
    |> validate_change(:isbn, fn :isbn, isbn ->
      if Bookshop.Books.find(isbn), do: [], else: [isbn: "is no book of the shop"]
    end)
    |> unique_constraint(:isbn, name: :orders_customer_id_isbn_index, message: "has already been ordered")
  end
end
