defmodule McpServer.AuthorizationGuideTest do
  # The guide's verifier for Google, against a stand-in for its `tokeninfo`.
  use McpServer.HttpCase, async: true

  alias McpServer.{HttpRouter, ScriptedServer}

  @client "1234-abc.apps.googleusercontent.com"
  @resource "http://localhost/mcp"
  @known %{"azp" => @client, "aud" => @client, "sub" => "1076", "scope" => "openid email", "exp" => "4102444800"}

  setup_all do
    {:ok, _started} = Application.ensure_all_started(:inets)
    [[_all, code]] = Regex.scan(~r/^```elixir\n(# In lib\/my_app\/google_tokens.ex\n.*?)^```$/ms, guide())
    [{verifier, _code}] = Code.compile_string(code)
    {:ok, verifier: verifier}
  end

  defp guide, do: File.read!("guides/authorization.md")

  defp answer(_request, {status, term}), do: ScriptedServer.json(status, term)

  defp ask(context, answer) do
    google = ScriptedServer.start(&answer(&1, answer))
    verifier = {context.verifier, url: google.url <> "/tokeninfo", clients: [@client]}
    auth = [resource: @resource, issuer: "https://accounts.google.com", scopes: ["openid"], verifier: verifier]
    server = HttpServers.start(:listener, router: HttpRouter, auth: auth)
    request = with_headers(modern_call("granted"), [{"authorization", "Bearer ya29.a0Af_token"}])
    {response, [message]} = HttpClient.exchange(server, request)
    {response, message, ScriptedServer.requested(google)}
  end

  test "takes a token of a known client, and says whose it is", context do
    {response, message, asked} = ask(context, {200, @known})
    assert response.status == 200
    principal = {"https://accounts.google.com", "1076", @client}
    assert HttpClient.text(message) == inspect({principal, "1076", ["openid", "email"]})
    # The token is in no URL, because URLs are logged.
    assert {"POST", "/tokeninfo", ""} == {asked.method, asked.target, asked.body}
    assert {"authorization", "Bearer ya29.a0Af_token"} in asked.headers
  end

  test "refuses what Google does not know, other clients' tokens and those of nobody", context do
    for answer <- [
          {400, %{"error" => "invalid_token", "error_description" => "Invalid Value"}},
          {200, %{@known | "aud" => "5678-def.apps.googleusercontent.com"}},
          {200, Map.delete(@known, "sub")}
        ] do
      {response, _message, _asked} = ask(context, answer)
      assert response.status == 401
      challenge = HttpResponse.header(response, "www-authenticate")
      assert challenge =~ ~s(error="invalid_token", error_description="The access token is not valid", scope="openid")
    end
  end

  test "asks for the scopes, and to come back while Google does not answer", context do
    {response, _message, _asked} = ask(context, {200, %{@known | "scope" => "email"}})
    assert {403, nil} == {response.status, HttpResponse.header(response, "retry-after")}
    {response, _message, _asked} = ask(context, {500, %{}})
    assert {503, "10"} == {response.status, HttpResponse.header(response, "retry-after")}
  end
end
