defmodule McpServer.Protocol.Outcome do
  @moduledoc false
  # Converts the core's outcome of a message into the form that the library uses.

  alias McpServer.Request

  @doc "Names the fields of an outcome without an answer."
  @spec of(term()) :: term()
  def of({:request, fields}), do: {:request, request(fields)}
  def of({:open, reply, fields}), do: {:open, reply, opening(fields)}
  def of({:batch, outcomes}), do: {:batch, Enum.map(outcomes, &of/1)}
  def of(finished), do: finished

  defp opening({id, revision, client_info, client_capabilities}) do
    %{id: id, revision: revision, client_info: client_info, client_capabilities: client_capabilities}
  end

  defp request(
         {id, method, revision, kind, index, name, arguments, token, client, input, task, repairs, refusal, hidden,
          stand_in, meta}
       ) do
    {info, capabilities, log_level} = client || {nil, nil, nil}
    {responses, unsound, state} = input

    %{
      Request.blank()
      | id: id,
        method: method,
        revision: revision,
        kind: kind,
        index: index,
        name: name,
        arguments: arguments,
        progress_token: token,
        client_info: info,
        client_capabilities: capabilities,
        log_level: log_level,
        input_responses: responses,
        unsound_responses: unsound,
        request_state: state,
        task: task,
        repairs: repairs,
        refusal: refusal,
        hidden: hidden(hidden),
        stand_in: stand_in,
        meta: meta
    }
  end

  defp hidden(fields) when tuple_size(fields) > 2, do: request(fields)
  defp hidden(answer), do: answer
end
