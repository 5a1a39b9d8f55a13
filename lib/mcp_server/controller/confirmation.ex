defmodule McpServer.Controller.Confirmation do
  @moduledoc false
  # `McpServer.Controller.confirm/4`: the user is asked once, and the answers come back with the handler's state, which
  # the client cannot change. Consent is stored by the question's text, so an answer counts for no other question. A state
  # with consents has an id and is used up by one call, because its client could send it again.

  alias McpServer.{Call, Conn, InputRequest, Once, Protocol, RequestState}
  alias McpServer.Protocol.Revision
  alias McpServer.Quota.Client

  @key "confirm"
  @schema %{"type" => "object", "properties" => %{}}

  @typedoc "`agreed` are the questions that were accepted, `asked` the one that the client has, `own` the handler's state."
  @type state :: {:mcp_confirm, id :: binary(), agreed :: [String.t()], asked :: String.t() | nil, own :: term}

  @doc "The handler's own state, without what is kept of confirmations."
  @spec own_state(term) :: term
  def own_state({:mcp_confirm, _id, _agreed, _asked, own}), do: own
  def own_state(state), do: state

  @doc "What `fun` returns once the user has agreed; before that the question, and else a refusal."
  @spec confirm(Conn.t(), String.t(), (() -> term), unsupported :: :refuse | :run) :: term
  def confirm(conn, question, fun, unsupported) do
    agreed = agreed(conn)

    cond do
      question in agreed -> with(:ok <- use_up(conn, question), do: remember(fun.(), agreed))
      refusal = refusal(conn, question) -> {:error, refusal}
      askable?(conn, question) -> ask(conn, question, agreed)
      unsupported == :run -> remember(fun.(), agreed)
      true -> {:error, "Nothing was done: the client cannot ask the user for consent (#{question})"}
    end
  end

  # One call may read its consents several times, also from other processes. A client that sends them in another call is
  # asked again.
  defp use_up(%Conn{call: nil}, _question), do: :ok

  defp use_up(%Conn{state: {:mcp_confirm, id, _agreed, _asked, _own}} = conn, question) do
    # In the session era the state never leaves the call.
    if Revision.stateless?(conn.protocol_version), do: use_up(conn, question, id), else: :ok
  end

  defp use_up(conn, question, id) do
    until = System.system_time(:second) + div(RequestState.ttl_ms(), 1_000) + 1

    case Once.use_up(:consents, id, until, Client.new(conn.principal, conn.peer), user(conn.call)) do
      :ok -> :ok
      :used -> ask(conn, question, [])
      :full -> {:error, "Nothing was done: too many consents were given lately (#{question})"}
    end
  end

  defp user(%Call{pid: pid}), do: pid
  defp user(task), do: task

  defp agreed(%Conn{state: {:mcp_confirm, _id, agreed, asked, _own}} = conn),
    do: if(answer(conn) == "accept", do: Enum.uniq([asked | agreed]), else: agreed)

  defp agreed(_conn), do: []

  # A client that brings no answer is asked again.
  defp refusal(%Conn{state: {:mcp_confirm, _id, _agreed, question, _own}} = conn, question) do
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
    do: {:input_required, %{@key => input(question)}, {:mcp_confirm, new_id(), agreed, question, own_state(conn.state)}}

  defp input(question) do
    %InputRequest{method: "elicitation/create", params: %{"message" => question, "requestedSchema" => @schema}}
  end

  # Input requests after a confirmation must not lead to a second confirmation.
  defp remember({:input_required, _inputs, {:mcp_confirm, _id, _all, _asked, _own}} = asked, _agreed), do: asked

  defp remember({:input_required, inputs, own}, agreed),
    do: {:input_required, inputs, {:mcp_confirm, new_id(), agreed, nil, own}}

  defp remember(returned, _agreed), do: returned

  defp new_id, do: :crypto.strong_rand_bytes(16)
end
