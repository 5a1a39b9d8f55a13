defmodule McpServer.Terminal do
  @moduledoc false
  # Runs a command in a terminal, and types the answers to its prompts.

  @doc """
  Runs a shell command in a folder until it ends. Returns the terminal's output and the exit status.

  `typed` is a list of `{prompt, text}`. When the output ends with the prompt, the text and a line end are typed. Raises
  after a minute without output.
  """
  @spec run(String.t(), Path.t(), [{String.t(), String.t()}], [{prompt :: String.t(), text :: String.t()}]) ::
          {String.t(), status :: non_neg_integer}
  def run(command, folder, environment, typed) do
    env = for {name, value} <- environment, do: {to_charlist(name), to_charlist(value)}
    # `script` of util-linux provides the terminal.
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
