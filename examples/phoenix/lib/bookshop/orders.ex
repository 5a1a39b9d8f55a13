defmodule Bookshop.Orders do
  @moduledoc "Who has ordered what."
  use Agent

  def start_link(_options), do: Agent.start_link(fn -> %{} end, name: __MODULE__)

  @doc "Orders a book, and says how many that customer has ordered."
  def place(customer, isbn) do
    Agent.get_and_update(__MODULE__, fn orders ->
      orders = Map.update(orders, customer, [isbn], &[isbn | &1])
      {length(orders[customer]), orders}
    end)
  end

  @doc "What a customer has ordered, the last order first."
  def of(customer), do: Agent.get(__MODULE__, &Map.get(&1, customer, []))
end
