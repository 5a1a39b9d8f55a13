defmodule McpServer.Dispatch.Asked do
  @moduledoc false
  # What a handler asked the client, and whether the client's answers belong to it. A handler sees no other answers: an
  # answer to another question is dropped, and so is a field that the form does not declare. An accepted form has to
  # satisfy its schema, formats included.

  alias McpServer.{InputRequest, JSON}
  alias McpServer.Schema.Validator

  @typedoc "The questions by key. A form is its JSON text: it travels in the sealed state of a request."
  @type t :: %{String.t() => form :: String.t() | :page | :reply | :roots}

  @type answers :: %{String.t() => map()}

  @doc "What is kept of the questions until their answers arrive."
  @spec of(%{String.t() => InputRequest.t()}) :: t()
  def of(inputs), do: Map.new(inputs, fn {key, input} -> {key, question(input)} end)

  defp question(%InputRequest{method: "elicitation/create", params: %{"requestedSchema" => form}}) do
    case JSON.encode(form) do
      {:ok, text} -> text
      # The request cannot be written either, so its handler has failed already.
      {:error, _unwritable} -> "false"
    end
  end

  defp question(%InputRequest{method: "elicitation/create"}), do: :page
  defp question(%InputRequest{method: "sampling/createMessage"}), do: :reply
  defp question(%InputRequest{method: "roots/list"}), do: :roots

  @doc """
  The answers to what was asked, as a handler may see them, or what is wrong with one of them: a text for the client.
  `unsound` are the keys of answers that have no valid form.
  """
  @spec fit(t(), answers(), unsound :: [String.t()]) :: {:ok, answers()} | {:misfit, String.t()}
  def fit(asked, answers, unsound \\ []) do
    answered = for {key, question} <- asked, is_map_key(answers, key), do: {key, question}

    Enum.reduce_while(answered, {:ok, %{}}, fn {key, question}, {:ok, fitting} ->
      answer = if key in unsound, do: :unsound, else: Map.fetch!(answers, key)

      case fitting(question, answer) do
        {:ok, answer} -> {:cont, {:ok, Map.put(fitting, key, answer)}}
        {:error, problem} -> {:halt, {:misfit, "the answer to #{inspect(key)} #{problem}"}}
      end
    end)
  end

  defp fitting(form, %{"action" => "accept"} = answer) when is_binary(form) do
    with {:ok, content} <- filled_in(JSON.decode!(form), answer["content"] || %{}),
         do: {:ok, Map.put(answer, "content", content)}
  end

  defp fitting(elicited, %{"action" => _action} = answer) when is_binary(elicited) or elicited == :page,
    do: {:ok, Map.delete(answer, "content")}

  defp fitting(:reply, %{"role" => _role} = answer), do: {:ok, answer}
  defp fitting(:roots, %{"roots" => _roots} = answer), do: {:ok, answer}
  defp fitting(:reply, _other), do: {:error, "must be a result of sampling/createMessage"}
  defp fitting(:roots, _other), do: {:error, "must be a result of roots/list"}
  defp fitting(_elicited, _other), do: {:error, "must be a result of elicitation/create"}

  defp filled_in(form, content) do
    content = Map.take(content, Map.keys(form["properties"] || %{}))

    with {:ok, validator} <- Validator.compile(form, formats: :assert),
         :ok <- Validator.validate(validator, content) do
      {:ok, content}
    else
      {:error, %{problems: problems}} ->
        {:error, "does not fit its form: " <> Enum.map_join(problems, "; ", & &1.message)}
    end
  end
end
