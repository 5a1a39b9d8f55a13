defmodule Weather.Forecast do
  @moduledoc "The data: made up, and the same at every call."

  @days ~w(Monday Tuesday Wednesday Thursday Friday)

  @forecasts %{
    "Kyoto" => [{"sunny", 9, 19}, {"sunny", 11, 21}, {"cloudy", 12, 18}, {"rainy", 10, 14}, {"sunny", 8, 17}],
    "Lisbon" => [{"sunny", 13, 22}, {"cloudy", 14, 20}, {"rainy", 12, 17}, {"sunny", 12, 21}, {"sunny", 14, 24}],
    "Nairobi" => [{"cloudy", 15, 25}, {"rainy", 14, 22}, {"rainy", 14, 21}, {"cloudy", 15, 24}, {"sunny", 16, 27}],
    "Oslo" => [{"snowy", -6, -1}, {"cloudy", -4, 1}, {"sunny", -9, -3}, {"snowy", -7, -2}, {"cloudy", -3, 2}]
  }

  # How far from the lowest to the highest temperature a day has come at 0, 3, 6 … 21 o'clock, in percent.
  @course [20, 5, 0, 30, 75, 100, 70, 40]

  @doc "The cities there are forecasts of."
  @spec cities() :: [String.t()]
  def cities, do: @forecasts |> Map.keys() |> Enum.sort()

  @doc "The days a forecast is for."
  @spec days() :: [String.t()]
  def days, do: @days

  @doc "The forecast of a city."
  @spec of(String.t()) :: [%{day: String.t(), sky: String.t(), low: integer, high: integer}]
  def of(city) do
    for {day, {sky, low, high}} <- Enum.zip(@days, Map.fetch!(@forecasts, city)),
        do: %{day: day, sky: sky, low: low, high: high}
  end

  @doc "The temperatures of a day at 0, 3, 6 … 21 o'clock."
  @spec hours(String.t(), String.t()) :: [integer]
  def hours(city, day) do
    %{low: low, high: high} = Enum.find(of(city), &(&1.day == day))
    for percent <- @course, do: low + round((high - low) * percent / 100)
  end
end
