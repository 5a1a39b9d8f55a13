defmodule Mix.Tasks.Mcp.DoctorTest do
  use ExUnit.Case, async: true

  import ExUnit.CaptureIO

  alias McpServer.{ClientServer, HttpServer}
  alias Mix.Tasks.Mcp.Doctor

  test "a URL, and the machine first" do
    server = start_supervised!({HttpServer, router: ClientServer, port: 0})
    url = "http://127.0.0.1:#{HttpServer.port(server)}/mcp"

    assert capture_io(fn -> assert Doctor.run(["--url", url, "--timeout", "60000"]) == :ok end) =~
             "ok       #{url} answers\n"
  end

  test "what does not work is status 1" do
    server = start_supervised!({HttpServer, router: ClientServer, port: 0})
    url = "http://127.0.0.1:#{HttpServer.port(server)}/elsewhere"

    printed = capture_io(fn -> assert catch_exit(Doctor.run(["--url", url])) == {:shutdown, 1} end)

    assert printed =~ """
           error    #{url} answers 404
                    Give the URL of the MCP endpoint itself, such as https://host/mcp.
           """
  end

  test "wrong words" do
    for {arguments, sentence} <- [
          {["--url", "localhost"], "expected --url to be an http or https URL, got: localhost\n"},
          {["--timeout", "0"], "expected --timeout to be an integer from 1 to 4_294_967_295 (milliseconds), got: 0\n"},
          {["--no-compile", "No.Such"], "there is no module No.Such in this project"},
          {["--verbose"], "there is no option --verbose\n"}
        ] do
      error = assert_raise Mix.Error, fn -> capture_io(fn -> Doctor.run(arguments) end) end

      assert String.starts_with?(error.message, sentence)
    end
  end
end
