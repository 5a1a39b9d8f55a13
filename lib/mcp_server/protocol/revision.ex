defmodule McpServer.Protocol.Revision do
  @moduledoc false
  # The revisions, and the two at the border of the eras. Revisions are dates, so their texts can be compared.

  @newest "2026-07-28"
  @last_of_sessions "2025-11-25"

  # The newest first.
  @all [@newest, @last_of_sessions, "2025-06-18", "2025-03-26", "2024-11-05"]

  @doc "All revisions, the newest first."
  @spec all() :: [String.t()]
  def all, do: @all

  @doc "The newest revision, and the first without sessions."
  @spec newest() :: String.t()
  def newest, do: @newest

  @doc "The last revision with sessions, and the first whose streams begin with an event id."
  @spec last_of_sessions() :: String.t()
  def last_of_sessions, do: @last_of_sessions

  @doc "Whether requests of this revision belong to the stateless era."
  @spec stateless?(String.t()) :: boolean()
  def stateless?(revision), do: revision >= @newest
end
