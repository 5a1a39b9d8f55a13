defmodule McpServer.Tools.Tags do
  @moduledoc false
  # The tags of tools that are enabled for a client. The value for the client's narrowest recipient counts. Tags without
  # a value are enabled.

  alias McpServer.{Conn, Recipient}
  alias McpServer.Tools.Server

  @max_bytes 128

  @doc "Whether the term is a valid tag."
  @spec valid?(term()) :: boolean()
  def valid?(tag), do: is_binary(tag) and byte_size(tag) in 1..@max_bytes and String.printable?(tag)

  @doc "Whether a tool with these tags is enabled for the client of the conn."
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
