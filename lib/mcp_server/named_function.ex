defmodule McpServer.NamedFunction do
  @moduledoc false
  # Functions that are named by module and name, in a router or in options: whether they exist, and what is told where
  # they do not.

  alias McpServer.Suggestion

  @doc "`nil` for a function that exists, or how a sentence goes on that says who names it."
  @spec missing({module, atom}, arity) :: String.t() | nil
  def missing({module, function}, arity) do
    call = Exception.format_mfa(module, function, arity)

    cond do
      not Code.ensure_loaded?(module) -> "names #{call}, but there is no module #{inspect(module)}"
      function_exported?(module, function, arity) -> nil
      true -> "names #{call}, which is not a public function#{exports(module, function)}"
    end
  end

  defp exports(module, function) do
    case for {^function, arity} <- module.module_info(:exports), do: "#{function}/#{arity}" do
      [] -> Suggestion.did_you_mean(to_string(function), names(module))
      arities -> " (there is #{Enum.join(arities, ", ")})"
    end
  end

  defp names(module), do: for({name, _arity} <- module.module_info(:exports), do: to_string(name))

  # Of a function that is given as `&Module.name/1` the compiler has warned.
  @doc "Raises `ArgumentError` for an option that names a function which does not exist."
  @spec check!(atom, {module, atom} | (... -> term) | nil, arity) :: :ok
  def check!(option, {_module, _function} = named, arity) do
    if text = missing(named, arity), do: raise(ArgumentError, "#{option}: #{text}")
    :ok
  end

  def check!(_option, _function, _arity), do: :ok
end
