defmodule McpServer.Protocol.ClientData do
  @moduledoc false
  # What a client says of itself when it opens a session, as the session keeps it: a term where it is short, else
  # the JSON text. As a term, 16 KiB of text can take ten times as much, and sessions live long.

  alias McpServer.JSON

  @type t :: map() | String.t()

  # The message that the text stood in was within the server's own limits, which may be higher than the defaults.
  @limits [max_values: 10_000_000, max_digits: 10_000]

  @doc "The term, as handlers see it."
  @spec to_term(t()) :: map()
  def to_term(data) when is_binary(data), do: JSON.decode!(data, @limits)
  def to_term(data) when is_map(data), do: data
end
