defmodule McpServer.Protocol.CompletionTest do
  # Responses without completion functions: the capability decides about the method, the target about the values.
  use ExUnit.Case, async: true

  alias McpServer.Test.Client

  defmodule Handlers do
    def get(_conn, _arguments), do: []
    def read(_conn, _arguments), do: {:error, :not_found}
    def complete(_conn, "name", prefix), do: McpServer.Controller.completion([prefix <> "a"])
  end

  defmodule Silent do
    use McpServer.Router, name: "silent"

    resource "user", "users://{id}" do
      description "A user"
      read Handlers, :read
    end
  end

  defmodule Partly do
    use McpServer.Router, name: "partly"

    prompt "greet", "Greets" do
      argument "name", "Whom"
      get Handlers, :get
      complete Handlers, :complete
    end

    prompt "mute", "Greets", completion: false do
      argument "name", "Whom"
      get Handlers, :get
    end

    resource "user", "users://{id}" do
      description "A user"
      read Handlers, :read
    end
  end

  @user %{"type" => "ref/resource", "uri" => "users://{id}"}
  @revisions ["2025-11-25", "2026-07-28"]

  defp complete(router, revision, reference, name) do
    params = %{"ref" => reference, "argument" => %{"name" => name, "value" => "A"}}
    router |> Client.open(revision: revision) |> Client.call("completion/complete", params)
  end

  defp prompt(name), do: %{"type" => "ref/prompt", "name" => name}

  test "a server in which nothing completes does not have the method" do
    for revision <- @revisions,
        do: assert({:error, %{"code" => -32601}} = complete(Silent, revision, @user, "id"))
  end

  test "in any other a target that completes nothing has no values" do
    none = %{"values" => [], "total" => 0, "hasMore" => false}

    for revision <- @revisions do
      assert {:ok, %{"completion" => %{"values" => ["Aa"]}}} = complete(Partly, revision, prompt("greet"), "name")
      assert {:ok, %{"completion" => ^none}} = complete(Partly, revision, prompt("mute"), "name")
      assert {:ok, %{"completion" => ^none}} = complete(Partly, revision, @user, "id")
    end
  end

  @tag req: "S4-78"
  test "what is not declared is an error" do
    for revision <- @revisions,
        {reference, name} <- [{@user, "name"}, {prompt("mute"), "id"}, {prompt("none"), "name"}] do
      assert {:error, %{"code" => -32602}} = complete(Partly, revision, reference, name)
    end
  end
end
