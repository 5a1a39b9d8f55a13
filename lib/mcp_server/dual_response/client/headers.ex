defmodule McpServer.DualResponse.Client.Headers do
  @moduledoc false
  # Request headers from the user, and response headers from any HTTP client.

  @type t :: [{String.t(), String.t()}]

  # The transport sets these headers, because they frame the request.
  @framing ["host", "connection", "content-length", "transfer-encoding", "upgrade", "te", "trailer"]

  @doc "The headers with names in lower case. Raises `ArgumentError` for an invalid header."
  @spec normalize!(Enumerable.t()) :: t()
  def normalize!(headers) when is_map(headers) or is_list(headers) do
    for header <- headers, {name, value} = pair!(header), do: {name, value}
  end

  def normalize!(other), do: raise(ArgumentError, "headers are a map or a list of pairs, got: #{kind(other)}")

  # Values are secrets, so no message contains them.
  defp pair!({name, value}) when (is_binary(name) or is_atom(name)) and is_binary(value) do
    name = name |> to_string() |> String.downcase()
    name =~ ~r/\A[!#$%&'*+.^_`|~0-9a-z-]+\z/ or raise ArgumentError, "#{inspect(name)} is no name of a header"
    name not in @framing or raise ArgumentError, "the header #{name} is set by whatever sends the request"
    value =~ ~r/\A[^\x00-\x08\x0A-\x1F\x7F]*\z/ or raise ArgumentError, "the value of the header #{name} is none"
    {name, value}
  end

  defp pair!(_other), do: raise(ArgumentError, "a header is a name and a text, as in {\"authorization\", \"Bearer …\"}")

  defp kind(term) when is_binary(term), do: "a string"
  defp kind(_term), do: "something else"

  @doc "The headers, with those of `given` replacing headers of the same name."
  @spec override(t(), t()) :: t()
  def override(defaults, given) do
    names = for {name, _value} <- given, do: name
    Enum.reject(defaults, fn {name, _value} -> name in names end) ++ given
  end

  @doc "A response's header. `nil` if it is missing, the last one of several."
  @spec get(t(), name :: String.t()) :: String.t() | nil
  def get(headers, name), do: for({^name, value} <- headers, do: value) |> List.last()

  @doc "A response's headers in one form. `:error` for an unknown form."
  @spec received(term()) :: {:ok, t()} | :error
  def received(headers) when is_map(headers) or is_list(headers) do
    pairs =
      for {name, values} <- headers, value <- List.wrap(values), do: {name |> to_string() |> String.downcase(), value}

    if Enum.all?(pairs, fn {_name, value} -> is_binary(value) end), do: {:ok, pairs}, else: :error
  end

  def received(_other), do: :error
end
