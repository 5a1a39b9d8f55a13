defmodule McpServer.Fetch.HeadTest do
  use ExUnit.Case, async: true

  alias McpServer.{Fetch, ScriptedServer}

  # The value of a header of the response, and the reductions of reading it.
  defp read(value) do
    %{url: url} = ScriptedServer.start(fn _request -> ScriptedServer.response(200, [{"x-long", value}], "") end)
    request = %{method: :get, url: url, headers: [], body: nil, timeout: 30_000, max_body_bytes: 10, stream: false}
    {:reductions, before} = Process.info(self(), :reductions)
    {:ok, response} = Fetch.fetch(Map.put(request, :addresses, :any), [])
    {:reductions, now} = Process.info(self(), :reductions)
    [read] = for {"x-long", value} <- response.headers, do: value
    {read, now - before}
  end

  # RFC 9112, section 5.2.
  test "lines of a folded header are joined by one space" do
    for {folded, value} <- [
          {"a\r\n b", "a b"},
          {"a \t \r\n\t  b", "a b"},
          {"a\r\n b\r\n\tc", "a b c"},
          {"a  b", "a  b"}
        ] do
      assert {folded, folded |> read() |> elem(0)} == {folded, value}
    end
  end

  # Earlier, a header of 64 KiB of spaces took seconds.
  test "white space in a header takes time in proportion to its length" do
    long = "a" <> String.duplicate(" ", 60_000) <> "b"
    assert {^long, reductions} = read(long)
    assert reductions < 1_000_000
    folded = "a" <> String.duplicate(" ", 30_000) <> "\r\n" <> String.duplicate(" ", 30_000) <> "b"
    assert {"a b", reductions} = read(folded)
    assert reductions < 1_000_000
  end
end
