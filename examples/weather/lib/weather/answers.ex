defmodule Weather.Answers do
  @moduledoc "What the tools answer: data for the view, and words for the model."

  use McpServer.Controller

  alias McpServer.App
  alias McpServer.Tool.CallResult
  alias Weather.Forecast

  def forecast(conn, %{"city" => city}) do
    days = Forecast.of(city)
    # Where a view shows the days, the model needs no table of them.
    words = if App.renders?(conn), do: sentence(city, days), else: table(city, days)
    data = %{city: city, cities: Forecast.cities(), days: days}
    {:ok, CallResult.new(content: [text(words)], structured_content: data)}
  end

  def hours(_conn, %{"city" => city, "day" => day}) do
    {:ok, %{day: day, temperatures: Forecast.hours(city, day)}}
  end

  defp sentence(city, [today | _later]) do
    "#{city} is #{today.sky} today, #{today.low} to #{today.high} °C. The user sees the next days in a view."
  end

  defp table(city, days) do
    rows = for day <- days, do: "- #{day.day}: #{day.sky}, #{day.low} to #{day.high} °C"
    Enum.join(["The weather in #{city}:" | rows], "\n")
  end
end
