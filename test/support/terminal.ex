defmodule McpServer.Terminal do
  @moduledoc false
  # A command in a terminal of its own, with somebody who types when asked.

  @doc """
  Runs a shell command in a folder until it ends: what the terminal showed, and the exit status.

  `typed` is a list of `{prompt, text}`: the text and a line's end are typed when what is shown ends with the prompt.
  Raises when nothing more is shown for a minute.
  """
  @spec run(String.t(), Path.t(), [{String.t(), String.t()}], [{prompt :: String.t(), text :: String.t()}]) ::
          {String.t(), status :: non_neg_integer}
  def run(command, folder, environment, typed) do
    env = for {name, value} <- environment, do: {to_charlist(name), to_charlist(value)}
    # `script` of util-linux makes the terminal.
    options = [:binary, :exit_status, args: ["-qefc", command, "/dev/null"], cd: folder, env: env]
    listen(Port.open({:spawn_executable, System.find_executable("script")}, options), "", typed)
  end

  defp listen(port, shown, typed) do
    receive do
      {^port, {:data, bytes}} ->
        shown = String.replace(shown <> bytes, "\r\n", "\n")
        listen(port, shown, type(port, shown, typed))

      {^port, {:exit_status, status}} ->
        {shown, status}
    after
      60_000 -> raise "nothing more is shown after\n#{shown}"
    end
  end

  defp type(port, shown, [{prompt, text} | later] = typed) do
    if String.ends_with?(shown, prompt) do
      Port.command(port, text <> "\n")
      later
    else
      typed
    end
  end

  defp type(_port, _shown, []), do: []
end
