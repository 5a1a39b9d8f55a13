defmodule BookshopWeb.ConnCase do
  @moduledoc false
  use ExUnit.CaseTemplate

  alias Bookshop.{Accounts, Repo}
  alias Ecto.Adapters.SQL.Sandbox

  using do
    quote do
      import Plug.Conn
      import Phoenix.ConnTest
      import BookshopWeb.ConnCase
      import McpServer.Test, only: [http_request: 1, http_request: 2]

      @endpoint BookshopWeb.Endpoint
    end
  end

  # MCP lets in what is addressed to this machine; the host of a test's conn is www.example.com. The token is Ada's.
  setup tags do
    owner = Sandbox.start_owner!(Repo, shared: not tags[:async])
    on_exit(fn -> Sandbox.stop_owner(owner) end)
    token = new_token("ada")
    conn = Plug.Conn.put_req_header(Phoenix.ConnTest.build_conn(), "authorization", "Bearer " <> token)
    {:ok, conn: %{conn | host: "localhost"}, token: token}
  end

  @doc "A token of a new customer."
  def new_token(name), do: name |> Accounts.create_customer!() |> Accounts.create_user_api_token()

  @doc "The header with which a request over a real connection works in this test's database."
  def sandbox_header do
    metadata = Phoenix.Ecto.SQL.Sandbox.metadata_for(Repo, self())
    {"user-agent", Phoenix.Ecto.SQL.Sandbox.encode_metadata(metadata)}
  end

  @doc "The request that opens a session, of revision 2025-11-25."
  def initialize do
    params = %{
      "protocolVersion" => "2025-11-25",
      "capabilities" => %{},
      "clientInfo" => %{"name" => "test", "version" => "1"}
    }

    headers = [{"content-type", "application/json"}, {"accept", "application/json, text/event-stream"}]
    {headers, Jason.encode!(%{"jsonrpc" => "2.0", "id" => 1, "method" => "initialize", "params" => params})}
  end

  @doc "A call of a tool."
  def call(tool, arguments, params \\ %{}),
    do: McpServer.Test.http_request("tools/call", Map.merge(params, %{"name" => tool, "arguments" => arguments}))
end
