defmodule McpServer.Dispatch.Outcome do
  @moduledoc false
  # Normalizes a handler's result. Handlers may return short forms, but the encoder needs structs.

  alias McpServer.{Completion, Conn, InputRequest, JsonRpc, Limit, Request}
  alias McpServer.Content.{Audio, EmbeddedResource, Image, ResourceLink, Text}
  alias McpServer.Dispatch.Reason
  alias McpServer.JSON.Structs
  alias McpServer.Prompt.{GetResult, Message, MessageContent}
  alias McpServer.Resource.{Content, ReadResult}
  alias McpServer.Tool.{CallResult, Result}

  @type t ::
          {:ok, struct() | [struct() | map()]}
          | {:error, String.t() | JsonRpc.Error.t()}
          | {:error, :not_found}
          | {:busy, text :: String.t(), seconds :: pos_integer()}
          | {:task, (McpServer.Conn.t() -> term())}
          | {:input, %{String.t() => InputRequest.t()}, state :: term()}
          | {:invalid, term()}

  # The longest period of a rate limit, in seconds.
  @max_retry_after div(Limit.most(:milliseconds), 1_000) + 1

  # The blocks of content in a tool's result.
  @content [Audio, EmbeddedResource, Image, ResourceLink, Text]

  @may_ask [:tool, :prompt, :resource, :resource_template]

  @doc "The text for a client that has to wait."
  @spec too_many(seconds :: pos_integer()) :: String.t()
  def too_many(seconds), do: "Too many calls. Try again in #{seconds} second#{if seconds > 1, do: "s"}."

  @doc "The outcome of a request for an entry whose handler returned `returned` when it was called with `conn`."
  @spec of(Request.t(), term(), Conn.t(), entry :: map() | nil) :: t()
  def of(request, returned, conn, entry)

  def of(%Request{kind: :tool} = request, returned, conn, %{any_output?: true}),
    do: of(request, valued(returned), conn)

  def of(request, returned, conn, _entry), do: of(request, returned, conn)

  # The output schema of the tool allows other values than maps. A struct is what it is, and so is a list of content.
  defp valued({:ok, value}), do: {:ok, valued(value)}
  defp valued([%module{} | _] = content) when module in @content, do: content
  defp valued(list) when is_list(list), do: CallResult.structured(list)
  defp valued(value) when is_binary(value) or is_number(value) or is_boolean(value), do: CallResult.structured(value)
  defp valued(other), do: other

  @doc "The outcome of a request whose handler returned `returned` when it was called with `conn`."
  @spec of(Request.t(), term(), Conn.t()) :: t()
  def of(%Request{kind: kind}, {:input_required, inputs, state} = returned, _conn)
      when kind in @may_ask and is_map(inputs) do
    if Enum.all?(inputs, fn {key, input} -> key?(key) and is_struct(input, InputRequest) end) and
         (inputs != %{} or state != nil),
       do: input(inputs, state, returned),
       else: {:invalid, returned}
  end

  def of(_request, {:error, text}, _conn) when is_binary(text) do
    if String.valid?(text), do: {:error, text}, else: {:invalid, {:error, text}}
  end

  def of(_request, {:error, {:retry_after, seconds}}, _conn) when seconds in 1..@max_retry_after//1,
    do: {:busy, too_many(seconds), seconds}

  # The protocol's schema requires text messages and integer codes.
  def of(_request, {:error, %JsonRpc.Error{code: code, message: message} = error}, _conn)
      when is_integer(code) and code >= -0x80000000 and code <= 0x7FFFFFFF and is_binary(message) do
    if String.valid?(message), do: {:error, error}, else: {:invalid, {:error, error}}
  end

  # An exception that implements `Result` stays a tool result.
  def of(%Request{kind: kind} = request, {:error, exception} = returned, conn) when is_exception(exception) do
    if kind == :tool and Result.impl_for(exception) != nil,
      do: tool(returned, conn),
      else: of(request, {:error, Exception.message(exception)}, conn)
  end

  def of(%Request{kind: kind}, {:error, :not_found}, _conn) when kind in [:resource, :resource_template],
    do: {:error, :not_found}

  def of(request, {:error, reason} = returned, conn) when is_atom(reason) or is_struct(reason, Ecto.Changeset) do
    own? = is_struct(reason) and request.kind == :tool and Result.impl_for(reason) != nil

    (not own? && Reason.returned(request, reason)) || otherwise(request, returned, conn)
  end

  def of(request, returned, conn), do: otherwise(request, returned, conn)

  defp otherwise(%Request{kind: :tool}, {:task, fun}, _conn) when is_function(fun, 1), do: {:task, fun}
  defp otherwise(%Request{kind: :tool}, returned, conn), do: tool(returned, conn)
  defp otherwise(%Request{kind: :prompt}, returned, _conn), do: prompt(returned)

  defp otherwise(%Request{kind: kind} = request, returned, _conn) when kind in [:resource, :resource_template],
    do: resource(request, returned)

  defp otherwise(%Request{kind: kind}, returned, _conn) when kind in [:complete_prompt, :complete_resource],
    do: completion(returned)

  defp otherwise(_list, {:ok, items}, _conn) when is_list(items), do: {:ok, items}
  defp otherwise(_list, returned, _conn), do: {:invalid, returned}

  # Keys are sent as text, so `:a` and `"a"` would be two questions under one name.
  defp input(inputs, state, returned) do
    by_text = Map.new(inputs, fn {key, input} -> {to_string(key), input} end)
    if map_size(by_text) == map_size(inputs), do: {:input, by_text, state}, else: {:invalid, returned}
  end

  defp key?(key), do: is_binary(key) or (is_atom(key) and key not in [nil, true, false])

  defp tool({:ok, value} = returned, conn), do: result(sent(value), returned, conn)
  defp tool({:error, value} = returned, conn) when is_struct(value), do: result(value, returned, conn)
  defp tool(returned, conn), do: result(sent(returned), returned, conn)

  # The fields of a struct that names those it sends, unless it says itself what result it is.
  defp sent(%_module{} = struct) do
    case Result.impl_for(struct) == nil && Structs.sent(struct) do
      {:ok, fields} -> fields
      _none -> struct
    end
  end

  defp sent(value), do: value

  defp result(value, returned, conn) do
    with implementation when implementation != nil <- Result.impl_for(value),
         {:ok, %CallResult{}} = outcome <- implementation.to_call_result(value, conn) do
      outcome
    else
      {:error, reason} when is_binary(reason) -> {:invalid, {Result, reason}}
      _none -> {:invalid, returned}
    end
  end

  defp prompt({:ok, returned}), do: prompt(returned)
  defp prompt(%GetResult{} = result), do: {:ok, result}
  defp prompt(messages) when is_list(messages), do: {:ok, %GetResult{messages: messages}}
  defp prompt(%Message{} = message), do: {:ok, %GetResult{messages: [message]}}

  defp prompt(text) when is_binary(text),
    do: prompt(%Message{role: "user", content: %MessageContent{type: "text", text: text}})

  defp prompt(returned), do: {:invalid, returned}

  defp resource(request, {:ok, returned}), do: resource(request, returned)
  defp resource(_request, %ReadResult{} = result), do: {:ok, result}

  defp resource(request, %Content{} = content), do: {:ok, %ReadResult{contents: [at(request, content)]}}

  defp resource(request, contents) when is_list(contents) do
    if List.improper?(contents),
      do: {:invalid, contents},
      else: {:ok, %ReadResult{contents: Enum.map(contents, &at(request, &1))}}
  end

  defp resource(request, %{"contents" => contents} = members) when map_size(members) == 1,
    do: resource(request, contents)

  defp resource(_request, content) when is_map(content) and not is_struct(content),
    do: {:ok, %ReadResult{contents: [content]}}

  defp resource(_request, returned), do: {:invalid, returned}

  # Content without a URI gets the URI of the request.
  defp at(request, %Content{uri: nil} = content), do: %{content | uri: request.name}
  defp at(_request, content), do: content

  defp completion({:ok, returned}), do: completion(returned)

  defp completion(values) when is_list(values), do: completion(%Completion{values: values})

  defp completion(%Completion{values: values} = completion) when is_list(values) do
    case Enum.split(values, Completion.max_values()) do
      {_all, []} -> {:ok, completion}
      {first, _rest} -> {:ok, %{completion | values: first, total: completion.total || length(values), hasMore: true}}
    end
  end

  defp completion(returned), do: {:invalid, returned}
end
