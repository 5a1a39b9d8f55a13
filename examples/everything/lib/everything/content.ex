defmodule Everything.Content do
  @moduledoc "Tools that show what a result can hold."
  use McpServer.Controller

  alias Everything.Media

  def simple_text(_conn, _args), do: {:ok, [text("This is a simple text response for testing.")]}

  def picture(_conn, _args), do: {:ok, [image(Media.png(), "image/png")]}

  def sound(_conn, _args), do: {:ok, [audio(Media.wav(), "audio/wav")]}

  def embedded_resource(_conn, _args) do
    fields = [mimeType: "text/plain", text: "This is an embedded resource content."]
    {:ok, [resource("test://embedded-resource", fields)]}
  end

  def several(_conn, _args) do
    json = [mimeType: "application/json", text: ~s({"test":"data","value":123})]

    {:ok,
     [
       text("Multiple content types test:"),
       image(Media.png(), "image/png"),
       resource("test://mixed-content-resource", json)
     ]}
  end

  def failure(_conn, _args), do: {:error, "This tool intentionally returns an error for testing"}

  def weather(_conn, %{"city" => city}), do: {:ok, %{city: city, temperature: 22.5, conditions: "partly cloudy"}}

  def contact(_conn, args), do: {:ok, [text("The contact is valid. Fields: #{args |> Map.keys() |> Enum.join(", ")}")]}

  def region(_conn, %{"region" => region}), do: {:ok, [text("Working in #{region}.")]}
end
