defmodule BookshopWeb.PageTest do
  use BookshopWeb.ConnCase, async: true

  test "the page says how to connect", %{conn: conn} do
    page = conn |> get("/") |> html_response(200)
    url = BookshopWeb.Endpoint.url() <> "/mcp"
    assert page =~ "claude mcp add --transport http bookshop #{url} --header"
    assert page =~ "&quot;url&quot;: &quot;#{url}&quot;"
    for tool <- ["search", "order", "stocktaking"], do: assert(page =~ "<code>#{tool}</code>")
  end
end
