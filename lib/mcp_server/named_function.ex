defmodule McpServer.NamedFunction do
  @moduledoc false
  # Checks that functions exist which a router or options name by module and name, and makes the error texts.

  alias McpServer.{NamedModule, Suggestion}

  @doc "`nil` for an existing function, or the rest of an error sentence that begins with the function's owner."
  @spec missing({module, atom}, arity) :: String.t() | nil
  def missing({module, function}, arity) do
    call = Exception.format_mfa(module, function, arity)

    cond do
      not Code.ensure_loaded?(module) ->
        "names #{call}, but there is no module #{inspect(module)}#{NamedModule.similar(module)}"

      function_exported?(module, function, arity) ->
        nil

      true ->
        "names #{call}, which is not a public function#{exports(module, function)}"
    end
  end

  defp exports(module, function) do
    case for {^function, arity} <- module.module_info(:exports), do: "#{function}/#{arity}" do
      [] -> Suggestion.did_you_mean(to_string(function), names(module))
      arities -> " (there is #{Enum.join(arities, ", ")})"
    end
  end

  defp names(module), do: for({name, _arity} <- module.module_info(:exports), do: to_string(name))

  # The compiler already warns about a missing `&Module.name/1`.
  @doc "Raises `ArgumentError` for an option that names a function which does not exist."
  @spec check!(atom, {module, atom} | (... -> term) | nil, arity) :: :ok
  def check!(option, {_module, _function} = named, arity) do
    if text = missing(named, arity), do: raise(ArgumentError, "#{option}: #{text}")
    :ok
  end

  def check!(_option, _function, _arity), do: :ok
end
