defmodule McpServer.PostgresRepo.Connection do
  # One connection: a passive socket for one process at a time.
  @moduledoc false

  @protocol 196_608
  @timeout 30_000
  @integers [20, 21, 23]

  # A server that was told to end its connections also ends one that is just opening.
  def open(folder, left \\ 5) do
    path = Path.join(folder, ".s.PGSQL.5432")
    {:ok, socket} = :gen_tcp.connect({:local, path}, 0, [:binary, active: false])
    settings = for text <- ~w(user postgres database postgres client_encoding UTF8), do: [text, 0]
    body = IO.iodata_to_binary([<<@protocol::32>>, settings, 0])
    :ok = :gen_tcp.send(socket, [<<byte_size(body) + 4::32>>, body])

    case answer(socket, %{columns: nil, types: [], rows: nil, num_rows: 0, error: nil}) do
      {:ok, _nothing} -> socket
      :closed when left > 0 -> open(folder, left - 1)
    end
  end

  def close(socket), do: :gen_tcp.close(socket)

  def query(socket, sql, parameters) do
    messages = [
      message(?P, [0, sql, 0, <<0::16>>]),
      message(?B, [0, 0, <<0::16, length(parameters)::16>>, Enum.map(parameters, &parameter/1), <<0::16>>]),
      message(?D, [?P, 0]),
      message(?E, [0, <<0::32>>]),
      message(?S, [])
    ]

    with :ok <- :gen_tcp.send(socket, messages),
         answer when answer != :closed <- answer(socket, %{columns: nil, types: [], rows: nil, num_rows: 0, error: nil}) do
      answer
    else
      _failure -> :closed
    end
  end

  defp message(kind, body), do: [kind, <<IO.iodata_length(body) + 4::32>>, body]

  defp parameter(nil), do: <<-1::32>>
  defp parameter(value) when is_binary(value), do: [<<byte_size(value)::32>>, value]
  defp parameter(value) when is_integer(value), do: value |> Integer.to_string() |> parameter()

  defp answer(socket, result) do
    with {:ok, <<kind, length::32>>} <- :gen_tcp.recv(socket, 5, @timeout),
         {:ok, body} <- if(length > 4, do: :gen_tcp.recv(socket, length - 4, @timeout), else: {:ok, ""}) do
      if kind == ?Z, do: finished(result), else: answer(socket, take(kind, body, result))
    else
      {:error, _reason} -> :closed
    end
  end

  defp finished(%{error: nil, rows: rows} = result),
    do: {:ok, %{columns: result.columns, rows: rows && Enum.reverse(rows), num_rows: result.num_rows}}

  defp finished(%{error: error}), do: {:error, error}

  defp take(?T, <<_count::16, fields::binary>>, result) do
    {columns, types} = fields |> fields() |> Enum.unzip()
    %{result | columns: columns, types: types, rows: []}
  end

  defp take(?D, <<_count::16, values::binary>>, result),
    do: %{result | rows: [values(values, result.types) | result.rows]}

  # "UPDATE 1", "INSERT 0 1", "SELECT 3", "CREATE TABLE"
  defp take(?C, tag, result) do
    case tag |> String.trim_trailing(<<0>>) |> String.split() |> List.last() |> Integer.parse() do
      {count, ""} -> %{result | num_rows: count}
      :error -> result
    end
  end

  defp take(?E, fields, result) do
    texts = for <<kind, text::binary>> <- String.split(fields, <<0>>), into: %{}, do: {kind, text}
    %{result | error: %{code: texts[?C], message: texts[?M]}}
  end

  # Authentication without a password, parameters, notices and completed steps.
  defp take(?R, <<0::32>>, result), do: result
  defp take(_kind, _body, result), do: result

  defp fields(""), do: []

  defp fields(binary) do
    [name, <<_table::32, _column::16, type::32, _size::16, _modifier::32, _format::16, rest::binary>>] =
      :binary.split(binary, <<0>>)

    [{name, type} | fields(rest)]
  end

  defp values("", []), do: []
  defp values(<<-1::signed-32, rest::binary>>, [_type | types]), do: [nil | values(rest, types)]

  defp values(<<length::32, text::binary-size(length), rest::binary>>, [type | types]),
    do: [value(text, type) | values(rest, types)]

  defp value(text, type) when type in @integers, do: String.to_integer(text)
  defp value(text, _type), do: text
end
