defmodule Bookshop.MCP.Tools do
  @moduledoc false
  use McpServer.Controller

  alias Bookshop.{Books, Orders}
  alias McpServer.DualResponse

  def search(_conn, %{"words" => words}), do: {:ok, %{books: Books.search(words)}}

  # The model reads what is wrong with a changeset: "/isbn: has already been ordered".
  def order(%{assigns: %{current_scope: scope}}, arguments) do
    with {:ok, order} <- Orders.place(scope, arguments) do
      title = Books.find(order.isbn).title
      {:ok, "#{title} is on its way to #{scope.customer.name}. Orders so far: #{Orders.count(scope)}"}
    end
  end

  # A few books for the model, and a link to all of them for the customer's program.
  def catalogue(conn, _arguments) do
    DualResponse.create_response(Bookshop.Results,
      name: "The shop's books",
      execute: &Books.page/1,
      count: &Books.count/1,
      columns: [
        %{name: "isbn", type: "string", sortable: false},
        %{name: "title", type: "string"},
        %{name: "author", type: "string", sortable: false},
        %{name: "cents", type: "number", sortable: false}
      ],
      sample_size: 2,
      conn: conn
    )
  end

  def stocktaking(conn, %{"shelves" => shelves}) do
    for shelf <- 1..shelves, do: progress(conn, shelf, shelves, "shelf #{shelf}")
    {:ok, [text("Counted #{shelves} shelves")]}
  end
end
