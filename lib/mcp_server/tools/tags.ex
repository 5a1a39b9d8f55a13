defmodule McpServer.Tools.Tags do
  @moduledoc false
  # Which tags of tools are enabled for a client: what was said for the narrowest that it is counts, and what nobody
  # has spoken of is enabled.

  alias McpServer.{Conn, Recipient}
  alias McpServer.Tools.Server

  @max_bytes 128

  @doc "Whether something can be a tag."
  @spec valid?(term()) :: boolean()
  def valid?(tag), do: is_binary(tag) and byte_size(tag) in 1..@max_bytes and String.printable?(tag)

  @doc "Whether a tool with these tags is there for the client of the conn."
  @spec enabled?(Conn.t(), [String.t()]) :: boolean()
  def enabled?(%Conn{router: router} = conn, tags) do
    recipients = Recipient.all(conn.principal, conn.session_id)
    Enum.all?(tags, &said(recipients, router, &1))
  end

  defp said([], _router, _tag), do: true

  defp said([recipient | wider], router, tag) do
    case Server.find({router, recipient, {:tag, tag}}) do
      {:ok, enabled?} -> enabled?
      :error -> said(wider, router, tag)
    end
  end
end
