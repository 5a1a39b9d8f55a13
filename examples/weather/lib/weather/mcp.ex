defmodule Weather.MCP do
  @moduledoc """
  The server: a forecast as a view that people can work with, and as words for everybody else.

      mix mcp.stdio Weather.MCP
      mix mcp.http Weather.MCP --port 4040
  """
  use McpServer.Router,
    name: "weather",
    version: "1.0.0",
    title: "Weather",
    instructions: "Ask for the forecast of a city. The forecasts are made up, and always the same."

  alias Weather.{Answers, Forecast, View}

  @cities Forecast.cities()

  tool "forecast", "The forecast of a city for five days", Answers, :forecast,
    title: "Forecast",
    hints: [:read_only, :non_destructive, :idempotent, :closed_world],
    ui: "ui://weather/forecast" do
    input_field "city", "Name of the city", :string, required: true, enum: @cities
    output_field "city", "Name of the city", :string, required: true
    output_field "cities", "All cities there are forecasts of", :array, required: true, items: :string

    output_field "days", "The forecast, from today on", :array, required: true do
      items :object do
        field "day", "Name of the day", :string, required: true
        field "sky", "What the sky looks like", :string, required: true, enum: ["sunny", "cloudy", "rainy", "snowy"]
        field "low", "Lowest temperature in degrees Celsius", :integer, required: true
        field "high", "Highest temperature in degrees Celsius", :integer, required: true
      end
    end
  end

  # For the view's own controls: nothing the model would ask for. Clients that know nothing of views would offer it to
  # the model.
  tool "hours", "The temperatures of one day", Answers, :hours,
    visibility: [:app],
    visible: &McpServer.App.renders?/1,
    hints: [:read_only, :non_destructive, :idempotent, :closed_world] do
    input_field "city", "Name of the city", :string, required: true, enum: @cities
    input_field "day", "Name of the day", :string, required: true, enum: Forecast.days()
    output_field "day", "Name of the day", :string, required: true
    output_field "temperatures", "Degrees Celsius at 0, 3, 6 … 21 o'clock", :array, required: true, items: :integer
  end

  resource "forecast view", "ui://weather/forecast" do
    description "Five days of weather, with a chart of each"
    # It brings everything along, so it asks for no origin and for no permission.
    prefers_border true
    read View, :read
  end
end
