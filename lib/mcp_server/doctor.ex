defmodule McpServer.Doctor do
  @moduledoc false
  # Searches for problems of a server: on this machine, in this project and at a URL. Each part returns findings, and
  # each problem comes with advice.

  alias McpServer.Console.Text
  alias McpServer.Doctor.Finding

  @doc "The findings as text, one per line, with the advice below. They may quote a server, or a file of a project."
  @spec text([Finding.t()]) :: iodata()
  def text(findings), do: Enum.map(findings, &line/1)

  defp line(%Finding{advice: nil} = finding), do: [label(finding), said(finding), "\n"]
  defp line(finding), do: [label(finding), said(finding), "\n         ", Text.safe(finding.advice), "\n"]

  defp said(finding), do: finding.said |> Text.safe() |> String.replace("\n", " ")

  defp label(%{level: :ok}), do: "ok       "
  defp label(%{level: :warning}), do: "warning  "
  defp label(%{level: :error}), do: "error    "

  @doc "Whether any finding is an error."
  @spec errors?([Finding.t()]) :: boolean()
  def errors?(findings), do: Enum.any?(findings, &(&1.level == :error))
end
