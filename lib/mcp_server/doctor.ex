defmodule McpServer.Doctor do
  @moduledoc false
  # Searches for problems of a server: on this machine, in this project and at a URL. Each part returns findings, and
  # each problem comes with advice.

  alias McpServer.Doctor.Finding

  @doc "The findings as text, one per line, with the advice below."
  @spec text([Finding.t()]) :: iodata()
  def text(findings), do: Enum.map(findings, &line/1)

  defp line(%Finding{advice: nil} = finding), do: [label(finding), finding.said, "\n"]
  defp line(finding), do: [label(finding), finding.said, "\n         ", finding.advice, "\n"]

  defp label(%{level: :ok}), do: "ok       "
  defp label(%{level: :warning}), do: "warning  "
  defp label(%{level: :error}), do: "error    "

  @doc "Whether any finding is an error."
  @spec errors?([Finding.t()]) :: boolean()
  def errors?(findings), do: Enum.any?(findings, &(&1.level == :error))
end
