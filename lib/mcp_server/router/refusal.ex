defmodule McpServer.Router.Refusal do
  @moduledoc false
  # Refuses a declaration with a `CompileError` at the declaration's file and line.

  @type place :: {file :: String.t(), line :: non_neg_integer}

  @doc "The place of a macro call. The file is relative, so that compiled code does not reveal build paths."
  @spec place(Macro.Env.t()) :: place
  def place(env), do: {Path.relative_to_cwd(env.file), env.line}

  @doc "Raises the `CompileError`."
  @spec refuse!(place, String.t()) :: no_return
  def refuse!({file, line}, message), do: raise(CompileError, file: file, line: line, description: message)

  @doc "Refuses with several reasons: at the place of the first, with the places of the others in the text."
  @spec refuse_all!([{place, String.t()}]) :: no_return
  def refuse_all!([{place, message} | others]) do
    others = for {place, message} <- others, do: "\n#{format(place)}: #{message}"
    refuse!(place, Enum.join([message | others]))
  end

  @doc "Refuses a declaration whose name was already declared."
  @spec refuse_twin!(place, what :: String.t(), earlier :: place) :: no_return
  def refuse_twin!(place, what, earlier),
    do: refuse!(place, "#{what} is already defined, at #{format(earlier)}. Rename or remove one")

  @doc "Runs `fun`, and refuses its argument errors at `place`."
  @spec checked!(place, (() -> result)) :: result when result: any
  def checked!(place, fun) do
    fun.()
  rescue
    error in ArgumentError -> refuse!(place, error.message)
  end

  @doc "A place in the common form: `lib/router.ex:12`."
  @spec format(place) :: String.t()
  def format({file, line}), do: "#{file}:#{line}"
end
