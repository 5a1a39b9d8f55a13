defmodule BookshopWeb.Mount do
  @moduledoc """
  Forwards to a plug of `mcp_server`, with the hosts of this deployment: they are known when it starts, and a Phoenix
  router keeps the options that it was compiled with.
  """
  @behaviour Plug

  @impl true
  def init({_plug, _options} = mount), do: mount

  @impl true
  def call(conn, {plug, options}),
    do: plug.call(conn, [allowed_hosts: Application.fetch_env!(:bookshop, :hosts)] ++ options)
end
