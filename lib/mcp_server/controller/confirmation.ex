defmodule McpServer.Controller.Confirmation do
  @moduledoc false
  # `McpServer.Controller.confirm/4`: the user is asked once, and the answers come back with the handler's state, which
  # the client cannot change. Consent is stored by the question's text, so an answer counts for no other question.

  alias McpServer.{Conn, InputRequest, Protocol}
  alias McpServer.Protocol.Revision

  @key "confirm"
  @schema %{"type" => "object", "properties" => %{}}

  @typedoc "`agreed` are the questions that were accepted, `asked` the one that the client has, `own` the handler's state."
  @type state :: {:mcp_confirm, agreed :: [String.t()], asked :: String.t() | nil, own :: term}

  @doc "The handler's own state, without what is kept of confirmations."
  @spec own_state(term) :: term
  def own_state({:mcp_confirm, _agreed, _asked, own}), do: own
  def own_state(state), do: state

  @doc "What `fun` returns once the user has agreed; before that the question, and else a refusal."
  @spec confirm(Conn.t(), String.t(), (() -> term), unsupported :: :refuse | :run) :: term
  def confirm(conn, question, fun, unsupported) do
    agreed = agreed(conn)

    cond do
      question in agreed -> remember(fun.(), agreed)
      refusal = refusal(conn, question) -> {:error, refusal}
      askable?(conn, question) -> ask(conn, question, agreed)
      unsupported == :run -> remember(fun.(), agreed)
      true -> {:error, "Nothing was done: the client cannot ask the user for consent (#{question})"}
    end
  end

  defp agreed(%Conn{state: {:mcp_confirm, agreed, asked, _own}} = conn),
    do: if(answer(conn) == "accept", do: Enum.uniq([asked | agreed]), else: agreed)

  defp agreed(_conn), do: []

  # A client that brings no answer is asked again.
  defp refusal(%Conn{state: {:mcp_confirm, _agreed, question, _own}} = conn, question) do
    case answer(conn) do
      "decline" -> "Nothing was done: the user declined (#{question})"
      "cancel" -> "Nothing was done: the user closed the question without an answer (#{question})"
      _none -> if is_map_key(conn.input_errors, @key), do: "Nothing was done: the user could not be asked (#{question})"
    end
  end

  defp refusal(_conn, _question), do: nil

  defp answer(%Conn{input_responses: %{@key => %{"action" => action}}}), do: action
  defp answer(_conn), do: nil

  defp askable?(conn, question) do
    revision = conn.protocol_version || Revision.newest()
    Protocol.supports?(revision, conn.client_capabilities || %{}, input(question))
  end

  defp ask(conn, question, agreed),
    do: {:input_required, %{@key => input(question)}, {:mcp_confirm, agreed, question, own_state(conn.state)}}

  defp input(question) do
    %InputRequest{method: "elicitation/create", params: %{"message" => question, "requestedSchema" => @schema}}
  end

  # Input requests after a confirmation must not lead to a second confirmation.
  defp remember({:input_required, _inputs, {:mcp_confirm, _all, _asked, _own}} = asked, _agreed), do: asked
  defp remember({:input_required, inputs, own}, agreed), do: {:input_required, inputs, {:mcp_confirm, agreed, nil, own}}
  defp remember(returned, _agreed), do: returned
end
