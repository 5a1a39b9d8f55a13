defmodule Bookshop.MCP.Tools do
  @moduledoc false
  use McpServer.Controller

  alias Bookshop.{Books, Orders}

  def search(_conn, %{"words" => words}), do: {:ok, %{books: Books.search(words)}}

  # `conn.assigns` is what the plugs before the MCP endpoint have put there.
  def order(%{assigns: %{customer: nil}}, _arguments), do: {:error, "Only customers can order: send their token"}

  def order(%{assigns: %{customer: customer}}, %{"isbn" => isbn}) do
    case Books.find(isbn) do
      nil ->
        {:error, "There is no book with that ISBN"}

      book ->
        {:ok, [text("#{book.title} is on its way to #{customer}. Orders so far: #{Orders.place(customer, isbn)}")]}
    end
  end

  def stocktaking(conn, %{"shelves" => shelves}) do
    for shelf <- 1..shelves, do: progress(conn, shelf, shelves, "shelf #{shelf}")
    {:ok, [text("Counted #{shelves} shelves")]}
  end
end
