defmodule McpServer.HttpPromptNamesTest do
  # The name of a prompt may be any text. Only tools have names of few characters (SEP-986).
  use McpServer.HttpCase, async: true

  defmodule Handlers do
    @moduledoc false
    def greet(_conn, _arguments), do: [McpServer.Controller.message("user", "Hallo")]
  end

  defmodule Router do
    @moduledoc false
    use McpServer.Router, name: "names"

    for name <- ["Grüße", "say hello", "挨拶"] do
      prompt name, "Greets", completion: false do
        get Handlers, :greet
      end
    end
  end

  @names ["Grüße", "say hello", "挨拶"]

  both "of any text are listed, and found in each era", [router: Router], %{server: server} do
    session = HttpSession.open(server)
    legacy = &HttpSession.answer(session, legacy(&1, &2))

    modern = fn method, params ->
      name = if params["name"], do: [{"mcp-name", "=?base64?" <> Base.encode64(params["name"]) <> "?="}], else: []
      HttpClient.answer(server, modern(method, params, headers: name))
    end

    for ask <- [legacy, modern] do
      assert %{"result" => %{"prompts" => prompts}} = ask.("prompts/list", %{})
      assert for(prompt <- prompts, do: prompt["name"]) == @names

      for name <- @names do
        assert %{"result" => %{"messages" => [message]}} = ask.("prompts/get", %{"name" => name})
        assert message["content"]["text"] == "Hallo"
      end
    end
  end
end
