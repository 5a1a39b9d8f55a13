defmodule McpServer.DualResponse.BaseUrlTest do
  # The address that clients are sent to. Not async: Mix's environment is global.
  use ExUnit.Case, async: false

  import McpServer.DualResponses
  import McpServer.TestLog

  alias McpServer.DualResponse

  # What a Phoenix endpoint knows once it has started.
  defmodule Endpoint do
    def url, do: :persistent_term.get(__MODULE__)
    def path(path), do: "/app" <> path
  end

  defp start_endpoint do
    :persistent_term.put(Endpoint, "https://shop.example.com")
    on_exit(fn -> :persistent_term.erase(Endpoint) end)
  end

  for path <- ["/resources", "/resources/"] do
    test "may be #{path} of a Phoenix endpoint, which starts later" do
      name = server(base_url: {Endpoint, unquote(path)})
      start_endpoint()
      response = create!(name, 1)
      assert response.resource_url == "https://shop.example.com/app/resources/" <> response.resource_id
      assert DualResponse.capability(name)["baseUrl"] == "https://shop.example.com/app/resources"
    end
  end

  test "is nothing else" do
    for wrong <- [
          {Endpoint, "resources"},
          {nil, "/resources"},
          {Endpoint, 1},
          Endpoint,
          "resources",
          "ftp://a.example/"
        ] do
      assert_raise ArgumentError,
                   ~r/\Aexpected :base_url to be an http:\/\/ or https:\/\/ URL, or {endpoint, path}/,
                   fn ->
                     DualResponse.start_link(name: __MODULE__, base_url: wrong)
                   end
    end
  end

  test "of this machine is warned of in production" do
    local = ~w(http://localhost:4000/r http://shop.localhost/r http://127.0.0.9/r http://0.0.0.0:4000/r http://[::1]/r)
    elsewhere = ["https://shop.example.com/r", "http://10.0.0.1/r", "http://localhost.example.com/r", {Endpoint, "/r"}]
    warned = fn url -> capture_log(fn -> server(base_url: url) end) end
    for url <- local ++ elsewhere, do: assert({url, warned.(url)} == {url, ""})

    Mix.env(:prod)
    on_exit(fn -> Mix.env(:test) end)

    for url <- local,
        do: assert(warned.(url) =~ "have the base_url: #{url}, which clients on other machines cannot reach")

    for url <- elsewhere, do: assert({url, warned.(url)} == {url, ""})
  end
end
