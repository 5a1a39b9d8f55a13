defmodule McpServer.Tools.Definition do
  @moduledoc false
  # Checks a tool that is added at run time, and converts it with the code for the router's declarations.

  alias McpServer.{Catalog, JSON, NamedFunction, Outline, Tool}
  alias McpServer.Router.{Arguments, Handler, Scope, ToolDefinition}
  alias McpServer.Tools.Server

  # Errors of declarations need a place, which is removed from the text.
  @nowhere {"run time", 0}

  @doc "The stored entry of a tool, or an error text."
  @spec new(module(), Tool.t() | keyword() | map(), McpServer.Tools.handler()) ::
          {:ok, Server.entry()} | {:error, String.t()}
  def new(router, fields, handler) do
    with :ok <- check_handler(handler),
         [declared] = Scope.at_run_time(router, :tool, fn -> put!(router, fields, handler) end),
         :ok <- check_new(router, declared.name),
         :ok <- check_budget(router, declared),
         :ok <- check_named(declared),
         {:ok, entry} <- entry(declared),
         {:ok, _compiled} <- Catalog.of_tool(Catalog.fetch(router), entry),
         do: {:ok, entry}
  rescue
    error in CompileError -> {:error, error.description}
  end

  defp put!(router, %Tool{} = tool, handler), do: put!(router, Map.from_struct(tool), handler)
  defp put!(router, fields, handler), do: ToolDefinition.put!(router, fields, handler, @nowhere)

  defp check_handler({module, function} = handler) when is_atom(module) and is_atom(function),
    do: said(with text when text != nil <- NamedFunction.missing(handler, 2), do: "the handler " <> text)

  # Another node may have another version of an anonymous function's module, or none.
  defp check_handler(fun) when is_function(fun, 2) do
    info = Function.info(fun)

    if info[:type] == :external,
      do: check_handler({info[:module], info[:name]}),
      else: {:error, named(fun) <> ", because other nodes call it by its name"}
  end

  defp check_handler(other), do: {:error, named(other)}

  defp named(other) do
    "a handler is a named function of the conn and the arguments, {module, function} or &Module.function/2, got: " <>
      Outline.of(other)
  end

  defp check_new(router, name) do
    if Enum.any?(router.__mcp__(:tools), &(&1.name == name)),
      do: {:error, "tool #{inspect(name)} is declared by #{inspect(router)}. Choose another name"},
      else: :ok
  end

  defp check_budget(router, %{result_budget: budget, what: what}) do
    if budget != nil and router.__mcp__(:overflow) == nil,
      do: {:error, "the result_budget of #{what} needs a place for larger results: `dual_responses` in the router"},
      else: :ok
  end

  # Checks the functions of `authorize:` and `visible:` and the structs of arguments, as after a router's compilation.
  defp check_named(%{handlers: [_handler | hooks], structs: structs, what: what}) do
    misfits = for object <- structs, text = Arguments.misfit(object), do: "#{what} #{text}"
    said(Enum.find_value(hooks, &Handler.missing/1) || List.first(misfits))
  end

  defp said(nil), do: :ok
  defp said(text), do: {:error, text}

  defp entry(%{name: name, struct: tool, entry: entry, structs: structs}) do
    structs = for %{module: module} <- structs, uniq: true, do: module

    case JSON.encode(tool) do
      {:ok, text} ->
        digest = :erlang.md5(:erlang.term_to_binary({text, entry, structs}, [:deterministic]))
        {:ok, %{name: name, text: text, entry: entry, structs: structs, tasks?: tasks?(text), digest: digest}}

      {:error, error} ->
        {:error, Exception.message(error)}
    end
  end

  defp tasks?(text) do
    case JSON.decode!(text) do
      %{"execution" => %{"taskSupport" => support}} -> support != "forbidden"
      _no_task -> false
    end
  end
end
