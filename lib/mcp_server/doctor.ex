defmodule McpServer.Doctor do
  @moduledoc false
  # Looks for what keeps a server from working, on this machine, in this project and at a URL. Each part gives findings;
  # whatever is not as it should be comes with what to do next.

  alias McpServer.Doctor.Finding

  @doc "The findings as text, one a line, with the advice below."
  @spec text([Finding.t()]) :: iodata()
  def text(findings), do: Enum.map(findings, &line/1)

  defp line(%Finding{advice: nil} = finding), do: [label(finding), finding.said, "\n"]
  defp line(finding), do: [label(finding), finding.said, "\n         ", finding.advice, "\n"]

  defp label(%{level: :ok}), do: "ok       "
  defp label(%{level: :warning}), do: "warning  "
  defp label(%{level: :error}), do: "error    "

  @doc "Whether something does not work."
  @spec errors?([Finding.t()]) :: boolean()
  def errors?(findings), do: Enum.any?(findings, &(&1.level == :error))
end
