defmodule Everything.Ask do
  @moduledoc """
  Tools that need something of the client or of its user.

  A handler returns what it needs and is entered again with the answers. It does not matter whether the
  client is asked there and then, or comes back with the answers later.
  """
  use McpServer.Controller

  import Everything.Question

  alias Everything.Forms

  def nothing(_conn, _args), do: {:ok, [text("Nothing to ask.")]}

  def model(conn, %{"prompt" => prompt}) do
    case reply(conn, "reply") do
      nil -> ask(conn, reply: sample(prompt, max_tokens: 100))
      reply -> {:ok, [text("LLM response: #{reply}")]}
    end
  end

  def capital(conn, _args) do
    case reply(conn, "capital_question") do
      nil -> ask(conn, capital_question: sample("What is the capital of France?", max_tokens: 100))
      reply -> {:ok, [text("The model says: #{reply}")]}
    end
  end

  def user(conn, %{"message" => message}) do
    case input(conn, "user") do
      nil -> ask(conn, user: elicit(message, Forms.user()))
      answer -> {:ok, [text("User response: #{answer["action"]}, #{json(answer["content"])}")]}
    end
  end

  def defaults(conn, _args), do: review(conn, "Please review the defaults", Forms.defaults())

  def choices(conn, _args), do: review(conn, "Please choose", Forms.choices())

  defp review(conn, message, form) do
    case input(conn, "form") do
      nil -> ask(conn, form: elicit(message, form))
      answer -> {:ok, [text("Elicitation completed: action=#{answer["action"]}, content=#{json(answer["content"])}")]}
    end
  end

  def name(conn, _args) do
    case accepted(conn, "user_name") do
      %{"name" => name} -> {:ok, [text("Hello, #{name}!")]}
      _ -> ask(conn, user_name: name_form())
    end
  end

  def roots(conn, _args) do
    case root_uris(conn, "client_roots") do
      nil -> ask(conn, client_roots: list_roots())
      uris -> {:ok, [text("Roots: #{Enum.join(uris, ", ")}")]}
    end
  end

  def confirmation(conn, _args) do
    case {accepted(conn, "confirm"), state(conn)} do
      {%{"ok" => ok}, "state-ok" = state} -> {:ok, [text("Confirmed: #{ok}, #{state}")]}
      _ -> ask(conn, [confirm: elicit("Please confirm", Forms.confirmation("ok"))], state: "state-ok")
    end
  end

  def three_things(conn, _args) do
    with %{"name" => name} <- accepted(conn, "user_name"),
         greeting when greeting != nil <- reply(conn, "greeting"),
         uris when uris != nil <- root_uris(conn, "client_roots") do
      {:ok, [text("#{greeting} #{name}: #{Enum.join(uris, ", ")}")]}
    else
      _ -> ask(conn, three_questions(), state: "three-things")
    end
  end

  def two_rounds(conn, _args) do
    case {state(conn), accepted(conn, "step1"), accepted(conn, "step2")} do
      {:asked_name, %{"name" => name}, _} ->
        step2 = elicit("Step 2: What is your favorite color?", Forms.text("color"))
        ask(conn, [step2: step2], state: {:asked_color, name})

      {{:asked_color, name}, _, %{"color" => color}} ->
        {:ok, [text("#{name} likes #{color}.")]}

      _ ->
        ask(conn, [step1: elicit("Step 1: What is your name?", Forms.text("name"))], state: :asked_name)
    end
  end

  # Asks all three, but only what this client can be asked for.
  def supported(conn, _args) do
    capabilities = [user_name: :elicitation, greeting: :sampling, client_roots: :roots]
    questions = Enum.filter(three_questions(), fn {key, _question} -> supports?(conn, capabilities[key]) end)

    cond do
      questions == [] -> {:ok, [text("There is nothing this client can be asked for.")]}
      Enum.all?(questions, fn {key, _question} -> input(conn, key) end) -> {:ok, [text(answered(questions))]}
      true -> ask(conn, questions)
    end
  end

  defp answered(questions), do: "Answered: #{questions |> Keyword.keys() |> Enum.join(", ")}"

  defp three_questions do
    [user_name: name_form(), greeting: sample("Write a greeting", max_tokens: 50), client_roots: list_roots()]
  end

  defp name_form, do: elicit("What is your name?", Forms.text("name"))

  defp json(content), do: McpServer.JSON.encode!(content || %{})
end
