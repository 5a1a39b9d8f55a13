defmodule McpServer.Router.Refusal do
  @moduledoc false
  # How a router refuses a declaration: a `CompileError` at the declaration's own file and line.

  @type place :: {file :: String.t(), line :: non_neg_integer}

  @doc "Where a macro was called. The file is relative: compiled code tells nobody where it was built."
  @spec place(Macro.Env.t()) :: place
  def place(env), do: {Path.relative_to_cwd(env.file), env.line}

  @doc "Refuses."
  @spec refuse!(place, String.t()) :: no_return
  def refuse!({file, line}, message), do: raise(CompileError, file: file, line: line, description: message)

  @doc "Refuses with more than one reason: at the place of the first, and with the places of the others."
  @spec refuse_all!([{place, String.t()}]) :: no_return
  def refuse_all!([{place, message} | others]) do
    others = for {place, message} <- others, do: "\n#{format(place)}: #{message}"
    refuse!(place, Enum.join([message | others]))
  end

  @doc "Refuses what has the name of something that was declared before."
  @spec refuse_twin!(place, what :: String.t(), earlier :: place) :: no_return
  def refuse_twin!(place, what, earlier),
    do: refuse!(place, "#{what} is already defined, at #{format(earlier)}. Rename or remove one")

  @doc "Runs `fun`; what it finds wrong with its arguments is refused at `place`."
  @spec checked!(place, (() -> result)) :: result when result: any
  def checked!(place, fun) do
    fun.()
  rescue
    error in ArgumentError -> refuse!(place, error.message)
  end

  @doc "A place as people write it: `lib/router.ex:12`."
  @spec format(place) :: String.t()
  def format({file, line}), do: "#{file}:#{line}"
end
