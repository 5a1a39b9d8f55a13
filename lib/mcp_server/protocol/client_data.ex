defmodule McpServer.Protocol.ClientData do
  @moduledoc false
  # The data of a client in `initialize`, in the form that the session stores: a term if it is short, else the JSON
  # text. The term of a long text can take ten times its memory, and sessions live long.

  alias McpServer.JSON

  @type t :: map() | String.t()

  # The text was already within the server's limits, which may be higher than the defaults.
  @limits [max_values: 10_000_000, max_digits: 10_000]

  @doc "The term for handlers."
  @spec to_term(t()) :: map()
  def to_term(data) when is_binary(data), do: JSON.decode!(data, @limits)
  def to_term(data) when is_map(data), do: data
end
