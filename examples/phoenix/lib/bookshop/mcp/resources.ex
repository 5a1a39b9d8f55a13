defmodule Bookshop.MCP.Resources do
  @moduledoc false
  use McpServer.Controller

  alias Bookshop.Books

  def book(_conn, %{"isbn" => isbn}) do
    case Books.find(isbn) do
      nil -> {:error, :not_found}
      book -> content(book.title, "book://#{isbn}", mimeType: "text/plain", text: "#{book.title}, by #{book.author}")
    end
  end

  def complete(_conn, "isbn", prefix), do: completion(Books.isbns(prefix))
end
