defmodule McpServer.DualResponse.Client.CredentialsTest do
  use ExUnit.Case, async: true

  import McpServer.ScriptedResource
  import McpServer.ScriptedServer

  alias McpServer.DualResponse.{Client, Error}
  alias McpServer.DualResponse.Client.Parsed

  @secrets %{"authorization" => "Bearer hush", "cookie" => "hush", "x-api-key" => "hush"}

  defp answer(offset \\ 0), do: page([offset], offset, 99, offset + 1)

  defp refused(server, options) do
    assert {:error, %Error{code: :fetch_error} = error} = Parsed.fetch(parsed(server, options))
    error.message
  end

  defp redirect(status \\ 307, location), do: response(status, [{"location", location}], "")

  defp secrets(request), do: for({name, "" <> value} <- request.headers, value =~ "hush", do: name)

  describe "credentials" do
    @describetag req: ["SEC-16", "Q1"]
    # A fetch function that sends each request to the test, and responds by URL.
    defp spy(answers) do
      me = self()

      fn request ->
        send(me, {:asked, request})
        {:ok, Map.get(answers, request.url, %{status: 404, headers: [], body: ""})}
      end
    end

    defp moved(location), do: %{status: 307, headers: [{"location", location}], body: ""}
    defp asked, do: receive(do: ({:asked, request} -> request), after: (0 -> nil))

    @tag req: "SEC-16"
    test "they go to base_url's origin, and not across a redirect to another one" do
      fetch =
        spy(%{
          "https://api.example.com/r/abc123" => moved("https://api.example.com/moved"),
          "https://api.example.com/moved" => moved("https://cdn.example.net/abc123"),
          "https://cdn.example.net/abc123" => moved("https://api.example.com/back")
        })

      client = Client.new(base_url: "https://api.example.com/r", headers: @secrets, fetch: fetch)
      assert {:error, %Error{code: :resource_not_found}} = Parsed.fetch(parsed(client))

      assert Enum.sort(secrets(asked())) == ["authorization", "cookie", "x-api-key"]
      assert Enum.sort(secrets(asked())) == ["authorization", "cookie", "x-api-key"]
      stranger = asked()
      assert stranger.url == "https://cdn.example.net/abc123"
      assert secrets(stranger) == []
      assert stranger.addresses == :public
      # The original origin gets the credentials again.
      assert Enum.sort(secrets(asked())) == ["authorization", "cookie", "x-api-key"]
    end

    @tag req: "SEC-16"
    test "the same with real servers, where the other one is not even connected to" do
      other = start(fn _request -> json(answer()) end)
      server = start_with([redirect(other.url <> "/x")])
      assert refused(server, headers: @secrets) =~ "private address"
      assert Enum.sort(secrets(requested(server))) == ["authorization", "cookie", "x-api-key"]
      assert all_requested(other) == []
    end

    @tag req: "SEC-16"
    test "another port, scheme or subdomain is another origin" do
      for url <- [
            "https://api.example.com:8443/a",
            "https://x.api.example.com/a",
            "https://example.com/a",
            "https://api.example.com.evil.example/a"
          ] do
        fetch = spy(%{"https://api.example.com/r/abc123" => moved(url)})
        client = Client.new(base_url: "https://api.example.com/r", headers: @secrets, fetch: fetch)
        Parsed.fetch(parsed(client))
        assert secrets(asked()) != []
        assert %{url: ^url} = stranger = asked()
        assert secrets(stranger) == []
      end

      fetch = spy(%{"https://api.example.com/r/abc123" => moved("http://api.example.com/a")})
      client = Client.new(base_url: "https://api.example.com/r", headers: @secrets, fetch: fetch)
      assert {:error, %Error{code: :fetch_error}} = Parsed.fetch(parsed(client))
      assert asked() && asked() == nil
    end

    @tag req: "Q1"
    test "the URL in a tool result gets none of them, unless its origin is named" do
      url = "https://evil.example/resources/abc123"
      resource = %{"uri" => "resource://abc123", "url" => url}

      for {options, secret?} <- [
            {[], false},
            {[allowed_origins: ["https://api.example.com"]], false},
            {[allowed_origins: ["https://EVIL.example:443/"]], true}
          ] do
        client = Client.new([headers: fn _request -> @secrets end, fetch: spy(%{})] ++ options)
        Parsed.fetch(parsed_of(client, resource))
        request = asked()
        assert request.url == url
        assert secrets(request) != [] == secret?
        assert request.addresses == if(secret?, do: :any, else: :public)
      end
    end

    @tag req: "Q1"
    test "the URL in a tool result cannot point into the network" do
      client = Client.new(headers: @secrets, fetch: spy(%{}))
      server = start(fn _request -> json(answer()) end)

      for url <- [server.url <> "/abc123", "https://10.0.0.1/abc123", "http://169.254.169.254/", "http://example.com/"],
          call <- [&Parsed.fetch/1, &Parsed.metadata/1, &Parsed.pin/1, &Parsed.delete/1] do
        for client <- [client, %{client | fetch: nil}] do
          parsed = parsed_of(client, %{"uri" => "resource://abc123", "url" => url})
          assert {:error, %Error{code: :fetch_error}} = call.(parsed)
        end
      end

      assert asked() == nil
      assert all_requested(server) == []
    end

    @tag req: "Q1"
    test "a name that resolves to a private address is refused after it was looked up" do
      # This machine's host name: only the lookup shows that it is local.
      {:ok, name} = :inet.gethostname()
      name = to_string(name)

      case :inet.getaddr(to_charlist(name), :inet) do
        {:ok, _private} ->
          client = Client.new(timeout: 5_000)
          parsed = parsed_of(client, %{"uri" => "resource://abc123", "url" => "https://#{name}/abc123"})
          assert {:error, %Error{code: :fetch_error, cause: {:address, :public}}} = Parsed.fetch(parsed)

        {:error, _unknown} ->
          IO.puts(:stderr, "skipped: this machine's own name does not resolve")
      end
    end
  end
end
