defmodule Weather.View do
  @moduledoc """
  The view: one HTML document, which `view/build.mjs` puts together before this module is compiled.
  """

  use McpServer.Controller

  @document Path.join(Mix.Project.app_path(), "priv/forecast.html")
  @external_resource @document
  @html File.read!(@document)

  # Its media type, and what the router declares of it, are added by the router.
  def read(_conn, _variables), do: content("forecast view", "ui://weather/forecast", text: @html)
end
