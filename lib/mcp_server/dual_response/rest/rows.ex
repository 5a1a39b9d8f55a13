defmodule McpServer.DualResponse.Rest.Rows do
  @moduledoc false
  # Rows as a response: one page, or all rows as lines. The pages of a stream are read while it is sent.

  require Logger

  alias McpServer.DualResponse
  alias McpServer.DualResponse.{Error, Paging, Resource, Rest, Sorting}
  alias McpServer.DualResponse.Rest.{Endpoint, Pages}
  alias McpServer.{JSON, Outline}

  @doc "The response with the rows. A stream calls `sorted` after its last read."
  @spec answer(Rest.t(), Endpoint.form(), Resource.t(), Endpoint.selection(), identity, sorted :: (() -> :ok)) ::
          Rest.response()
        when identity: DualResponse.identity() | :any
  def answer(rest, :page, %{persist: :rows} = resource, {offset, limit, []} = selection, identity, _sorted) do
    key = {resource.id, offset, limit}

    with {:ok, body, rows} <- Pages.fetch(rest.pages, key),
         {:ok, server} <- DualResponse.settings(rest.server),
         :ok <- Paging.count_access(server, resource, rows) do
      {200, Endpoint.headers(:page), body}
    else
      :error -> page(rest, resource, selection, identity, &Pages.put(rest.pages, key, owner(resource), &1, &2))
      {:error, error} -> refuse(rest, error)
    end
  end

  def answer(rest, :page, resource, selection, identity, _sorted),
    do: page(rest, resource, selection, identity, fn _body, _rows -> :ok end)

  def answer(rest, form, resource, {offset, limit, keys}, identity, sorted) do
    query = %{offset: offset, sort: sort(keys), batch: rest.stream_batch, timeout: :infinity, sorted: sorted}

    with {:ok, total, pages} <- DualResponse.stream(rest.server, resource, query, identity),
         lines = %{form: form, columns: columns(form, resource), limit: limit, server: rest.server},
         {:ok, first} <- begin(pages, lines) do
      headers = [{"x-total-count", Integer.to_string(total)} | Endpoint.headers(form)]
      {:stream, 200, headers, stream(first, lines)}
    else
      {:error, error} -> refuse(rest, error)
    end
  end

  # A result that belongs to nobody has a share of its own.
  defp owner(%{tenant: nil, subject: nil, id: id}), do: id
  defp owner(resource), do: Resource.holder(resource)

  defp page(rest, resource, {offset, limit, keys}, identity, written) do
    # The dispatcher ends a query that takes too long.
    query = %{offset: offset, limit: limit, sort: sort(keys), timeout: :infinity}

    with {:ok, page} <- DualResponse.fetch(rest.server, resource, query, identity),
         {:ok, body} <- Endpoint.page(page.data, offset, page.total_count) do
      written.(body, page.returned_count)
      {200, Endpoint.headers(:page), body}
    else
      {:error, error} -> refuse(rest, error)
    end
  end

  defp sort([]), do: nil
  defp sort([key]), do: sort_key(key)
  defp sort(keys), do: Enum.map(keys, &sort_key/1)
  defp sort_key({field, order}), do: %{field: field, order: order}

  defp columns(:ndjson, _resource), do: nil
  defp columns(:csv, resource), do: Enum.map(resource.columns, &Sorting.name/1)

  defp refuse(_rest, %Error{} = error), do: Rest.refuse(error)
  defp refuse(rest, error), do: Rest.refuse(unwritable(rest.server, error))

  defp unwritable(server, %JSON.EncodeError{} = error) do
    Logger.error("#{inspect(server)}: a row cannot be written as JSON: #{Outline.line(Exception.message(error))}")
    Error.new(:query_execution_failed, "The query gave rows that cannot be sent")
  end

  # The first page is read before the head is sent, so that its error can still set the status.
  defp begin(pages, lines) do
    reader = &Enumerable.reduce(pages, &1, fn page, _none -> {:suspend, page} end)

    with {:ok, text, state} <- read(reader, 0, lines), do: {:ok, {header(lines) <> text, state}}
  end

  defp header(%{columns: nil}), do: ""

  defp header(%{columns: names, form: :csv}) do
    {:ok, line} = Endpoint.lines([Map.new(names, &{&1, &1})], names)
    line
  end

  defp stream({text, state}, lines) do
    Stream.resource(
      fn -> {:read, text, state} end,
      fn
        {:read, text, state} -> {[text], state}
        state -> next(state, lines)
      end,
      &halt/1
    )
  end

  defp next(:done, _lines), do: {:halt, :done}

  defp next({:end, sent}, %{form: :ndjson}),
    do: {[~s({"$end":true,"returned_count":#{sent}}\n)], :done}

  defp next({:end, _sent}, _lines), do: {:halt, :done}

  defp next({:more, reader, sent}, lines) do
    case read(reader, sent, lines) do
      {:ok, text, state} -> {[text], state}
      {:error, error} -> failed(error, lines)
    end
  end

  defp failed(error, %{form: :ndjson} = lines), do: {[error_line(code(error, lines))], :done}
  # CSV has no place for an error message, so the stream is cut.
  defp failed(error, _lines), do: raise(error)

  defp code(%Error{} = error, _lines), do: Error.code(error)
  defp code(error, lines), do: Error.code(unwritable(lines.server, error))

  @doc "The last line of an incomplete stream of rows."
  @spec error_line(String.t()) :: binary()
  def error_line(code), do: JSON.encode!(%{"$error" => %{"code" => code}}) <> "\n"

  defp halt({:more, reader, _sent}), do: reader.({:halt, nil})
  defp halt({:read, _text, state}), do: halt(state)
  defp halt(_over), do: :ok

  defp read(reader, sent, lines) do
    case pull(reader) do
      {:ok, rows, reader} -> rows |> cut(sent, lines.limit) |> write(reader, sent, lines)
      :done -> {:ok, "", {:end, sent}}
      {:error, error} -> {:error, error}
    end
  end

  defp cut(rows, _sent, nil), do: rows
  defp cut(rows, sent, limit), do: Enum.take(rows, limit - sent)

  defp write(rows, reader, sent, lines) do
    sent = sent + length(rows)

    with {:ok, text} <- Endpoint.lines(rows, lines.columns) do
      if sent == lines.limit do
        reader.({:halt, nil})
        {:ok, text, {:end, sent}}
      else
        {:ok, text, {:more, reader, sent}}
      end
    end
  end

  # The next page, and the reader for the page after it.
  defp pull(reader) do
    case reader.({:cont, nil}) do
      {:suspended, rows, reader} -> {:ok, rows, reader}
      {over, _none} when over in [:done, :halted] -> :done
    end
  rescue
    error in Error -> {:error, error}
  end
end
