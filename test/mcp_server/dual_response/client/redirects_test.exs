defmodule McpServer.DualResponse.Client.RedirectsTest do
  use ExUnit.Case, async: true

  import McpServer.ScriptedResource
  import McpServer.ScriptedServer

  alias McpServer.DualResponse.Client.Parsed
  alias McpServer.DualResponse.Error
  alias McpServer.JSON

  defp answer(offset \\ 0), do: page([offset], offset, 99, offset + 1)

  defp refused(server, options \\ []) do
    assert {:error, %Error{code: :fetch_error} = error} = Parsed.fetch(parsed(server, options))
    error.message
  end

  defp redirect(status \\ 307, location), do: response(status, [{"location", location}], "")

  describe "redirects" do
    @describetag req: ["Y11", "Q1"]
    @tag req: "Q1"
    test "up to three are followed, each method as it is, and the answer counts" do
      for status <- [301, 302, 307, 308] do
        server =
          start(fn
            %{target: "/resources/abc123"} -> redirect(status, "/b/abc123")
            %{target: "/b/abc123"} -> redirect(status, "../c/abc123?x=1#y")
            %{target: "/c/abc123?x=1"} -> redirect(status, "?x=2")
            %{target: "/c/abc123?x=2"} -> json(answer())
          end)

        assert {:ok, %{data: [%{"id" => 0}]}} = Parsed.fetch(parsed(server))
        requests = all_requested(server)
        assert length(requests) == 4
        request = List.last(requests)
        assert request.method == "POST"
        assert JSON.decode!(request.body)["limit"] == 100
      end
    end

    @tag req: "Y11"
    test "a loop ends after max_redirects" do
      for {options, requests} <- [{[], 4}, {[max_redirects: 1], 2}, {[max_redirects: 0], 1}] do
        server = start(fn _request -> redirect("/loop") end)
        assert refused(server, options) =~ "redirects"
        assert length(all_requested(server)) == requests
      end
    end

    @tag req: "Q1"
    test "303, which would turn a question into another, is followed for metadata only" do
      server =
        start(fn
          %{method: "GET", target: "/there"} -> json(404, %{})
          _request -> redirect(303, "/there")
        end)

      assert {:error, %Error{code: :resource_not_found}} = Parsed.metadata(parsed(server))
      assert {:error, %Error{code: :fetch_error, status: 303}} = Parsed.fetch(parsed(server))
      assert {:error, %Error{code: :fetch_error, status: 303}} = Parsed.delete(parsed(server))
    end

    @tag req: "Y11"
    test "to 169.254.169.254 and its kind: nothing is sent there" do
      other = start(fn _request -> json(answer()) end)

      for location <- [
            "http://169.254.169.254/latest/meta-data/",
            "https://169.254.169.254/",
            "https://10.0.0.1/",
            "https://192.168.0.1/",
            "https://[::1]/",
            "https://[::ffff:169.254.169.254]/",
            "https://2852039166/",
            "https://0xa9fea9fe/",
            "https://localhost/",
            other.url <> "/",
            String.replace(other.url, "127.0.0.1", "localhost"),
            String.replace(other.url, "127.0.0.1", "127.1"),
            String.replace(other.url, "127.0.0.1", "[::ffff:127.0.0.1]")
          ] do
        server = start_with([redirect(location)])
        assert refused(server) =~ "private address", location
      end

      assert all_requested(other) == []
    end

    @tag req: "Q1"
    test "to a private address whose very origin is allowed" do
      other = start(fn _request -> json(answer()) end)
      server = start_with([redirect(other.url <> "/x")])
      assert {:ok, _page} = Parsed.fetch(parsed(server, allowed_origins: [other.url]))

      # Another port is another origin.
      stranger = start(fn _request -> json(answer()) end)
      server = start_with([redirect(stranger.url <> "/x")])
      assert refused(server, allowed_origins: [other.url]) =~ "private address"
      assert all_requested(stranger) == []
    end

    @tag req: "Y11"
    test "to another scheme, to credentials, to no URL" do
      for location <-
            ["file:///etc/passwd", "ftp://example.com/", "https://a:b@example.com/", "http://example.com/"] ++
              ["http://[", "https://", "\xFF", String.duplicate("a", 10_000)] do
        server = start_with([redirect(location)])
        assert {:error, %Error{code: :fetch_error}} = Parsed.fetch(parsed(server)), location
      end
    end

    @tag req: "Q1"
    test "redirects count within the request's one deadline" do
      server =
        start(fn _request ->
          fn connection ->
            Process.sleep(60)
            push(connection, redirect("/loop"))
          end
        end)

      options = [timeout: 150, max_redirects: 1_000]
      assert {:error, %Error{code: :timeout}} = Parsed.fetch(parsed(server, options))
    end
  end
end
