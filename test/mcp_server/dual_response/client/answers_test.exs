defmodule McpServer.DualResponse.Client.AnswersTest do
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

  describe "answers that are none" do
    @describetag req: "Y11"
    @tag req: "Y11"
    test "what is no HTTP, or HTTP that can be understood in two ways" do
      body = JSON.encode!(answer())
      length = {"content-length", "#{byte_size(body)}"}

      for answer <- [
            "hello\r\n\r\n",
            ["HTTP/2 200\r\n\r\n", body],
            "HTTP/1.1 abc OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno header\r\n\r\n",
            "HTTP/1.1 101 Switching\r\n\r\nwhatever",
            [head(200, [length, {"transfer-encoding", "chunked"}]), body],
            [head(200, [length, {"content-length", "1"}]), body],
            [head(200, [{"content-length", "-1"}]), body],
            [head(200, [{"content-length", "1e3"}]), body],
            [head(200, [{"content-length", String.duplicate("9", 30)}]), body],
            [head(200, [{"transfer-encoding", "chunked"}, {"transfer-encoding", "chunked"}]), chunk(body), chunk("")],
            [head(200, [{"transfer-encoding", "chunked"}]), "xyz\r\n"],
            [head(200, [{"transfer-encoding", "chunked"}]), "-5\r\n"],
            [head(200, [{"transfer-encoding", "chunked"}]), "1\r\nxx\r\n"]
          ] do
        assert refused(start_with([answer])) =~ "not HTTP", inspect(answer)
      end
    end

    @tag req: "Y11"
    test "a response that ends too early" do
      body = JSON.encode!(answer())

      for answer <- [
            "",
            "HTTP/1.1 200 OK\r\n",
            [head(200, [{"content-length", "#{byte_size(body) + 1}"}]), body],
            [head(200, [{"transfer-encoding", "chunked"}]), chunk(body)]
          ] do
        assert refused(start_with([answer])) =~ "complete"
      end
    end

    @tag req: "Y11"
    test "a wrong answer: another page than was asked for, or more of it" do
      for answer <- [
            %{answer() | "offset" => 1},
            %{answer() | "data" => [%{}, %{}], "returned_count" => 2},
            %{answer() | "returned_count" => 0}
          ] do
        assert {:error, %Error{code: :parse_error}} = Parsed.fetch(parsed(start_with([json(answer)])), limit: 1)
      end
    end

    @tag req: "Y11"
    test "duplicate answers: the second on a connection is nobody's, the same page again ends the rows" do
      server = start_with([[json(answer()), json(%{answer() | "data" => [%{"id" => "second"}]})]])
      assert {:ok, %{data: [%{"id" => 0}]}} = Parsed.fetch(parsed(server))

      server = start(fn _request -> json(answer()) end)
      assert {:error, %Error{code: :parse_error}} = Parsed.fetch_all(parsed(server), batch_size: 1)
      assert length(all_requested(server)) == 2
    end

    @tag req: "Y11"
    test "interim responses come before the answer, and are not it" do
      server = start_with([["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early\r\nlink: x\r\n\r\n", json(answer())]])
      assert {:ok, %{data: [%{"id" => 0}]}} = Parsed.fetch(parsed(server))
    end
  end

  defp chunk(bytes), do: [Integer.to_string(IO.iodata_length(bytes), 16), "\r\n", bytes, "\r\n"]
end
