defmodule McpServer.JSON.Structs do
  @moduledoc false
  # Encodes structs of other modules as JSON. The native core writes structs that derive `McpServer.JSON.Encoder` once
  # it knows their fields. It stops at any other struct: these are replaced by the result of their encoder protocol, and
  # the core encodes the term again.

  @compile {:no_warn_undefined, [Jason, Jason.Encoder, Elixir.JSON, Elixir.JSON.Encoder]}

  alias McpServer.JSON
  alias McpServer.JSON.{Encoder, Unencodable}

  # Bounds the recursion, because an encoder may return the struct that it was given. The core encodes no deeper terms.
  @max_depth 128

  @doc "Runs `write` on the term. If it meets unknown structs, runs it on the term with these structs replaced."
  @spec write(term, (term -> result)) :: result when result: term
  def write(term, write) do
    case write.(term) do
      {:error, {:unknown_struct, _path, _module}} -> write.(replaced(term, 0))
      {:error, {:unsupported, {:unknown_struct, _path, _module}}} -> write.(replaced(term, 0))
      written -> written
    end
  end

  defp replaced(term, depth) when depth > @max_depth, do: term
  defp replaced([_ | _] = list, depth), do: elements(list, depth + 1)
  defp replaced(%{__struct__: module} = struct, depth) when is_atom(module), do: struct(struct, module, depth)
  defp replaced(%{} = map, depth), do: :maps.map(fn _key, value -> replaced(value, depth + 1) end, map)
  defp replaced(term, _depth), do: term

  # The core refuses the end of an improper list.
  defp elements([element | rest], depth), do: [replaced(element, depth) | elements(rest, depth)]
  defp elements(rest, _depth), do: rest

  defp struct(struct, module, depth) do
    if JSON.knows_struct?(module), do: :maps.map(&field(&1, &2, depth), struct), else: foreign(struct, module, depth)
  end

  defp field(:__struct__, module, _depth), do: module
  defp field(_name, value, depth), do: replaced(value, depth + 1)

  defp foreign(struct, module, depth) do
    case own(Encoder, Encoder.Any, struct) do
      nil -> by_text(struct, module)
      rule -> by_ours(rule, struct, module, depth)
    end
  end

  defp by_ours(rule, struct, module, depth) do
    if derived?(rule) do
      fields = rule.__fields__()
      JSON.plan_struct(module, fields)
      Enum.reduce(fields, struct, fn field, struct -> replace_field(struct, field, depth) end)
    else
      guarded(Encoder, module, fn -> replaced(rule.term(struct), depth + 1) end)
    end
  end

  defp replace_field(struct, field, depth) do
    case struct do
      %{^field => value} -> %{struct | field => replaced(value, depth + 1)}
      _struct -> struct
    end
  end

  # Both libraries are optional.
  defp by_text(struct, module) do
    cond do
      own(Jason.Encoder, Jason.Encoder.Any, struct) ->
        guarded(Jason.Encoder, module, fn -> read(Jason.encode_to_iodata!(struct)) end)

      own(Elixir.JSON.Encoder, Elixir.JSON.Encoder.Any, struct) ->
        guarded(Elixir.JSON.Encoder, module, fn -> read(Elixir.JSON.encode_to_iodata!(struct)) end)

      true ->
        struct
    end
  end

  # The encoder's text is parsed, because it may be invalid JSON, contain line breaks or be nested too deeply.
  defp read(iodata) do
    text = IO.iodata_to_binary(iodata)
    JSON.decode!(text, max_bytes: byte_size(text) + 1, max_values: byte_size(text) + 1, max_digits: 100_000)
  end

  # Runs user code. An exception may contain the struct, so only the exception's name is reported.
  defp guarded(protocol, module, run) do
    run.()
  rescue
    error -> unencodable(protocol, module, "raised #{inspect(error.__struct__)}")
  catch
    :throw, _value -> unencodable(protocol, module, "threw a value")
    :exit, _reason -> unencodable(protocol, module, "exited")
  end

  defp unencodable(protocol, module, what),
    do: %Unencodable{reason: "the #{inspect(protocol)} of %#{inspect(module)}{} #{what}"}

  # The protocol's implementation for a struct, unless it is the one for `Any`.
  defp own(protocol, any, struct) do
    implementation = if Code.ensure_loaded?(protocol), do: protocol.impl_for(struct)
    if implementation not in [nil, any], do: implementation
  end

  @doc "The checked fields of `@derive`."
  @spec fields!(module, struct, keyword) :: [atom]
  def fields!(module, struct, options) do
    all = struct |> Map.from_struct() |> Map.keys() |> Enum.sort()

    case options do
      [only: [_ | _] = fields] -> check!(module, fields, all)
      [except: [_ | _] = fields] -> all -- check!(module, fields, all)
      _other -> raise ArgumentError, advice(module, "has to name the fields that are sent", all)
    end
  end

  defp check!(module, fields, all) do
    case Enum.reject(fields, &(&1 in all)) do
      [] -> Enum.uniq(fields)
      unknown -> raise ArgumentError, advice(module, "names #{inspect(unknown)}, which are no fields", all)
    end
  end

  defp advice(module, fault, all) do
    "@derive {McpServer.JSON.Encoder, only: [...]} of #{inspect(module)} #{fault}; its fields are #{inspect(all)}"
  end

  @doc "The fields that a struct sends, if it derives `McpServer.JSON.Encoder`."
  @spec sent(struct) :: {:ok, map} | :error
  def sent(struct) do
    rule = own(Encoder, Encoder.Any, struct)
    if rule && derived?(rule), do: {:ok, rule.term(struct)}, else: :error
  end

  # Outside a release nobody may have loaded the implementation yet.
  defp derived?(rule), do: Code.ensure_loaded?(rule) and function_exported?(rule, :__fields__, 0)

  @doc "Updates the fields of a loaded module in the native core, if the core is loaded."
  @spec loaded(module, [atom]) :: :ok
  def loaded(module, fields) do
    if :erlang.module_loaded(McpServer.Native), do: JSON.plan_struct(module, fields)
    :ok
  end
end
