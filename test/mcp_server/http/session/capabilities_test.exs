defmodule McpServer.Http.Session.CapabilitiesTest do
  use ExUnit.Case, async: true

  alias McpServer.Http.Session.Capabilities

  @known %{
    "roots" => %{"listChanged" => true},
    "sampling" => %{"tools" => %{}, "context" => %{}},
    "elicitation" => %{"form" => %{}, "url" => %{}},
    "extensions" => %{
      "io.modelcontextprotocol/ui" => %{"mimeTypes" => ["text/html;profile=mcp-app"]},
      "io.modelcontextprotocol/tasks" => %{}
    }
  }

  test "what the library asks about survives, alone and together" do
    for capabilities <- [@known, %{} | for({name, value} <- @known, do: %{name => value})],
        do: assert(capabilities |> Capabilities.to_flags() |> Capabilities.from_flags() == capabilities)
  end

  test "an empty capability stays empty: an empty elicitation is one by forms" do
    for name <- ["roots", "sampling", "elicitation"] do
      assert %{name => %{}} |> Capabilities.to_flags() |> Capabilities.from_flags() == %{name => %{}}
    end
  end

  test "other things are left out, whatever they are" do
    for odd <- [%{"x" => 1}, %{"roots" => 1}, %{"roots" => nil}, %{"extensions" => []}, %{"elicitation" => "form"}],
        do: assert(Capabilities.to_flags(odd) == 0)

    flags = Capabilities.to_flags(%{"roots" => %{"listChanged" => false, "more" => 1}})
    assert Capabilities.from_flags(flags) == %{"roots" => %{}}

    views = %{
      "extensions" => %{"io.modelcontextprotocol/ui" => %{"mimeTypes" => ["text/x", "text/html;profile=mcp-app"]}}
    }

    assert %{"extensions" => %{"io.modelcontextprotocol/ui" => _views}} =
             Capabilities.from_flags(Capabilities.to_flags(views))
  end

  test "flags of a later release mean nothing" do
    assert Capabilities.from_flags(0xFC00) == %{}
    assert Capabilities.to_flags(@known) == 0x03FF
  end
end
