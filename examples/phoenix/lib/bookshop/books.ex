defmodule Bookshop.Books do
  @moduledoc "What the shop sells."

  @books [
    %{isbn: "9781680502992", title: "Programming Elixir 1.6", author: "Dave Thomas", cents: 4595},
    %{isbn: "9781937785581", title: "Programming Erlang", author: "Joe Armstrong", cents: 4200},
    %{isbn: "9781617295027", title: "Elixir in Action", author: "Saša Jurić", cents: 4499},
    %{isbn: "9781680508215", title: "Designing Elixir Systems with OTP", author: "James Gray, Bruce Tate", cents: 4195}
  ]

  @doc "The books whose title or author has `words` in it, in the order of the shelf."
  def search(words) do
    words = String.downcase(words)
    Enum.filter(@books, &String.contains?(String.downcase("#{&1.title} #{&1.author}"), words))
  end

  @doc "A part of the shelf, by title if that is asked for."
  def page(%{offset: offset, limit: limit, sort: sort}), do: @books |> sort(sort) |> Enum.slice(offset, limit)

  defp sort(books, nil), do: books
  defp sort(books, %{field: "title", order: order}), do: Enum.sort_by(books, & &1.title, order)

  @doc "How many books there are."
  def count(_options), do: length(@books)

  @doc "The book with that ISBN, or `nil`."
  def find(isbn), do: Enum.find(@books, &(&1.isbn == isbn))

  @doc "The ISBNs that begin like this."
  def isbns(prefix), do: for(%{isbn: isbn} <- @books, String.starts_with?(isbn, prefix), do: isbn)
end
