defmodule McpServer.Generator.App do
  @moduledoc false
  # The file contents for a tool with a view.

  alias McpServer.Generator

  @doc "The URI of the view."
  @spec uri(String.t(), String.t()) :: String.t()
  def uri(module, name), do: "ui://#{Generator.scheme(module)}/#{name}"

  @doc "The module of the tool and its view."
  @spec code(String.t(), String.t()) :: String.t()
  def code(module, name) do
    """
    defmodule #{Generator.module(module, name)} do
      @moduledoc "The tool #{name} and its view."
      use McpServer.Controller

      @html_file Path.join(__DIR__, "#{name}.html")
      @external_resource @html_file
      @html File.read!(@html_file)

      # The text is for the model, the data for the view.
      def call(_conn, %{"text" => text}) do
        said = "#{name}: " <> text
        {:ok, McpServer.Tool.CallResult.new(content: [text(said)], structured_content: %{text: said})}
      end

      def view(_conn, _variables), do: content("#{name} view", "#{uri(module, name)}", text: @html)
    end
    """
  end

  @doc "The test of the tool."
  @spec test(String.t(), String.t()) :: String.t()
  def test(module, name) do
    """
    defmodule #{Generator.module(module, name)}Test do
      use ExUnit.Case, async: true

      alias #{Generator.module(module, name)}

      test "answers with a text for the model and data for the view" do
        assert {:ok, %{content: [%{text: text}], structured_content: %{text: text}}} =
                 #{Macro.camelize(name)}.call(%McpServer.Conn{}, %{"text" => "a"})

        assert text == "#{name}: a"
      end

      test "the view is a document" do
        assert "<!DOCTYPE html>" <> _rest = #{Macro.camelize(name)}.view(%McpServer.Conn{}, %{}).text
      end
    end
    """
  end

  @doc "The HTML document. It talks to the host without a library."
  @spec page(String.t()) :: String.t()
  def page(name) do
    """
    <!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <title>#{name}</title>
      </head>
      <body>
        <p><output id="text">…</output></p>
        <script>
          const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

          addEventListener("message", ({ source, data: { id, method, params, result } }) => {
            if (source !== parent) return;
            if (id === 1 && result) send({ method: "ui/notifications/initialized", params: {} });
            if (method === "ui/notifications/tool-result")
              document.getElementById("text").textContent = params.structuredContent.text;
          });

          const appInfo = { name: "#{name}", version: "0.1.0" };
          send({ id: 1, method: "ui/initialize", params: { appInfo, appCapabilities: {}, protocolVersion: "2026-01-26" } });
        </script>
      </body>
    </html>
    """
  end
end
