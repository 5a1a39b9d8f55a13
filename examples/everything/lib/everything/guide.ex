defmodule Everything.Guide do
  @moduledoc "The prompts."
  use McpServer.Controller

  import Everything.Question

  alias Everything.{Forms, Media}

  def simple(_conn, _args), do: [message("user", "This is a simple prompt for testing.")]

  def with_arguments(_conn, %{"arg1" => one, "arg2" => two}) do
    [message("user", "Prompt with arguments: arg1='#{one}', arg2='#{two}'")]
  end

  def complete_argument(_conn, _argument, prefix) do
    values = Enum.filter(["paris", "party", "test", "testing"], &String.starts_with?(&1, prefix))
    completion(values, total: length(values), has_more: false)
  end

  def with_resource(_conn, %{"resourceUri" => uri}) do
    embedded = resource(uri, mimeType: "text/plain", text: "Embedded resource content for testing.")
    [message("user", embedded), message("user", "Please process the embedded resource above.")]
  end

  def with_image(_conn, _args) do
    [
      message("user", image(Media.png(), "image/png")),
      message("user", "Please analyze the image above.")
    ]
  end

  def with_context(conn, _args) do
    case accepted(conn, "user_context") do
      %{"context" => context} -> [message("user", "Context of the user: #{context}")]
      _ -> ask(conn, user_context: elicit("What is this about?", Forms.text("context")))
    end
  end
end
