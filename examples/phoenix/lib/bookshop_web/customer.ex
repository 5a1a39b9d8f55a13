defmodule BookshopWeb.Customer do
  @moduledoc """
  Who sends a request: the customer whose token it carries, or nobody in particular.

  As a plug it puts the customer's name into `conn.assigns`, where MCP handlers find it too. As the `identify:`
  hook of the MCP endpoint it says whose session, streams and state the request may reach, as the `identify:` hook of
  the stored results whose results.
  """
  @behaviour Plug

  @guest "guest"

  @impl true
  def init(options), do: options

  @impl true
  def call(conn, _options) do
    case Plug.Conn.get_req_header(conn, "authorization") do
      [] -> Plug.Conn.assign(conn, :customer, nil)
      ["Bearer " <> token] -> Plug.Conn.assign(conn, :customer, customer(token))
      _other -> Plug.Conn.assign(conn, :customer, :unknown)
    end
  end

  @doc "Guests may look around; a token that is nobody's is refused."
  def identify(%{assigns: %{customer: nil}}), do: {:ok, @guest}
  def identify(%{assigns: %{customer: :unknown}}), do: {:error, :unauthorized}
  def identify(%{assigns: %{customer: customer}}), do: {:ok, {:customer, customer}}

  @doc "Stored results are those of who asked for them: what `identify/1` says is their subject."
  def identity(conn) do
    with {:ok, principal} <- identify(conn), do: %{subject: principal}
  end

  # Compared in constant time, so that nobody finds a token by how long a wrong one takes.
  defp customer(token) do
    Enum.find_value(Application.fetch_env!(:bookshop, :tokens), :unknown, fn {known, customer} ->
      if Plug.Crypto.secure_compare(known, token), do: customer
    end)
  end
end
