defmodule McpServer.Protocol.Revision do
  @moduledoc false
  # The revisions at which the two eras meet. Revisions are dates, so their texts can be compared.

  @newest "2026-07-28"
  @last_of_sessions "2025-11-25"

  @doc "The newest revision, and the first without sessions."
  @spec newest() :: String.t()
  def newest, do: @newest

  @doc "The last revision with sessions, and the first whose streams begin with an event id."
  @spec last_of_sessions() :: String.t()
  def last_of_sessions, do: @last_of_sessions

  @doc "Whether a request of this revision says for itself who asks."
  @spec stateless?(String.t()) :: boolean()
  def stateless?(revision), do: revision >= @newest
end
