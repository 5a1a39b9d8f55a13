defmodule Bookshop.Orders do
  @moduledoc "Who has ordered what."
  import Ecto.Query

  alias Bookshop.Accounts.Scope
  alias Bookshop.Orders.Order
  alias Bookshop.Repo

  @doc "Orders a book for the customer, once."
  def place(%Scope{customer: customer}, attributes),
    do: %Order{customer_id: customer.id} |> Order.changeset(attributes) |> Repo.insert()

  @doc "How many books the customer has ordered."
  def count(%Scope{customer: %{id: id}}),
    do: Repo.aggregate(from(order in Order, where: order.customer_id == ^id), :count)
end
