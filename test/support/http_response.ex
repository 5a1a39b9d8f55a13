defmodule McpServer.HttpResponse do
  # A received HTTP response: the head as it was written, and the body if it ends.
  @moduledoc false

  alias McpServer.JSON

  defstruct [:status, :version, :headers, body: ""]

  @type t :: %__MODULE__{
          status: pos_integer(),
          version: String.t(),
          headers: [{String.t(), String.t()}],
          body: binary() | :stream
        }

  @doc "Takes a head from the received bytes. `:more` if it is incomplete."
  @spec take(binary()) :: {t(), rest :: binary()} | :more
  def take(bytes) do
    case :binary.split(bytes, "\r\n\r\n") do
      [head, rest] -> {parse(head), rest}
      [_unfinished] -> :more
    end
  end

  # The parser is strict, so that a test notices an invalid head.
  defp parse(head) do
    [line | lines] = :binary.split(head, "\r\n", [:global])
    [_, version, status] = Regex.run(~r/\A(HTTP\/1\.[01]) (\d{3})(?: [^\r\n]*)?\z/, line)
    %__MODULE__{version: version, status: String.to_integer(status), headers: Enum.map(lines, &header/1)}
  end

  defp header(line) do
    [_, name, value] = Regex.run(~r/\A([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\x00]*?)[ \t]*\z/s, line)
    {String.downcase(name), value}
  end

  @doc "A header's value. `nil` if it is missing. Raises if it is present twice."
  @spec header(t(), String.t()) :: String.t() | nil
  def header(%__MODULE__{headers: headers}, name) do
    case for {^name, value} <- headers, do: value do
      [] -> nil
      [value] -> value
      values -> raise "the header #{name} is there #{length(values)} times: #{inspect(values)}"
    end
  end

  @doc "Whether the body is an event stream."
  @spec events?(t()) :: boolean()
  def events?(response), do: header(response, "content-type") == "text/event-stream"

  @doc "The body as JSON."
  @spec json(t()) :: term()
  def json(%__MODULE__{body: body}) when is_binary(body) do
    {:ok, value} = JSON.decode(body)
    value
  end

  @doc "The framing of the body."
  @spec framing(t(), method :: String.t()) :: {:length, non_neg_integer()} | :chunked | :until_close
  def framing(%__MODULE__{status: status}, method) when method == "HEAD" or status in [204, 304], do: {:length, 0}

  def framing(response, _method) do
    case {header(response, "transfer-encoding"), header(response, "content-length")} do
      {"chunked", nil} -> :chunked
      {nil, nil} -> :until_close
      {nil, length} -> {:length, String.to_integer(length)}
      both -> raise "a body with two ends: #{inspect(both)}"
    end
  end
end
