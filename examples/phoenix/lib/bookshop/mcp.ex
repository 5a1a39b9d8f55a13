defmodule Bookshop.MCP do
  @moduledoc "What the shop offers to MCP clients."
  use McpServer.Router, name: "bookshop", version: "1.0.0", title: "Bookshop", context: {__MODULE__, :context}

  alias Bookshop.Accounts
  alias Bookshop.Accounts.Scope

  dual_responses Bookshop.Results

  @doc "What every request has of its customer, as controllers and LiveViews have it: `conn.assigns.current_scope`."
  def context(%{principal: nil} = conn), do: McpServer.Conn.assign(conn, :current_scope, nil)

  def context(%{principal: id} = conn) do
    case Accounts.get_customer(id) do
      nil -> {:error, "This customer no longer exists"}
      customer -> McpServer.Conn.assign(conn, :current_scope, Scope.for_customer(customer))
    end
  end

  tool "search", "Searches the shop's books", Bookshop.MCP.Tools, :search, hints: [:read_only, :closed_world] do
    input_field "words", "Part of a title or of an author's name", :string, required: true, minLength: 2

    output_field "books", "What was found", :array, required: true do
      items :object do
        field "isbn", "Its ISBN", :string, required: true
        field "title", "Its title", :string, required: true
        field "author", "Who wrote it", :string, required: true
        field "cents", "Its price", :integer, required: true
      end
    end
  end

  tool "order", "Orders a book for the customer whose token is sent", Bookshop.MCP.Tools, :order,
    authorize: {__MODULE__, :customer?} do
    input_field "isbn", "The book's ISBN", :string, required: true
    input_field "copies", "How many", :integer, minimum: 1, maximum: 10, default: 1
  end

  def customer?(conn), do: conn.assigns.current_scope != nil

  tool "stocktaking", "Counts every shelf, and tells how far it is", Bookshop.MCP.Tools, :stocktaking,
    hints: [:read_only] do
    input_field "shelves", "How many", :integer, required: true, minimum: 1, maximum: 100
  end

  tool "catalogue", "All books of the shop: a few of them, and a link to the rest", Bookshop.MCP.Tools, :catalogue,
    hints: [:read_only, :closed_world]

  resource "book", "book://{isbn}" do
    description "A book of the shop"
    mimeType "text/plain"
    read Bookshop.MCP.Resources, :book
    complete Bookshop.MCP.Resources, :complete
  end
end
