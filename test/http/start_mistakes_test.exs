defmodule McpServer.Http.StartMistakesTest do
  # Errors of a start with a router or a hook that does not exist: they are raised before a process is started.
  use ExUnit.Case, async: true

  alias McpServer.{Connection, HttpRouter, HttpServer}

  for {options, message} <- [
        {[router: MyApp.Mpc], "MyApp.Mpc is not a router: there is no such module"},
        {[router: Enum], "Enum is not a router: it does not `use McpServer.Router`"},
        {[router: HttpRouter, identify: {MyApp.Auth, :identify}],
         "identify: names MyApp.Auth.identify/1, but there is no module MyApp.Auth"},
        {[router: HttpRouter, identify: {McpServer.Handlers, :ecko}],
         "identify: names McpServer.Handlers.ecko/1, which is not a public function, did you mean echo?"},
        {[router: HttpRouter, init: {McpServer.Handlers, :complete}],
         "init: names McpServer.Handlers.complete/1, which is not a public function (there is complete/3)"}
      ] do
    test "#{inspect(options)} raises in the caller" do
      assert_raise ArgumentError, unquote(message), fn -> HttpServer.start_link([port: 0] ++ unquote(options)) end
    end
  end

  test "a connection of stdio too" do
    assert_raise ArgumentError, "Enum is not a router: it does not `use McpServer.Router`", fn ->
      Connection.start_link(router: Enum, transport: {McpServer.Stdio.Transport, %{}})
    end
  end
end
