defmodule McpServer.HttpRequestTest do
  use ExUnit.Case, async: true

  doctest McpServer.HttpRequest
end
