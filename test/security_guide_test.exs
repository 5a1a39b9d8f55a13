defmodule McpServer.SecurityGuideTest do
  # SECURITY.md names a test for each of its promises.
  use ExUnit.Case, async: true

  @page "SECURITY.md"
  @external_resource @page

  defp section(heading) do
    [_before, rest] = @page |> File.read!() |> String.split("\n## #{heading}\n")
    rest |> String.split("\n## ") |> hd()
  end

  defp promises,
    do: for([_all, name] <- Regex.scan(~r/^- \*\*(.+?)\*\*/m, section("What the library defends")), do: name)

  defp tests do
    for [_all, promise, file, test] <-
          Regex.scan(~r/^\| ([^|`]+) \| `(.+?)` \| (.+) \|$/m, section("The tests of these promises")),
        do: {promise, file, test}
  end

  test "each promise has a test, and no test is of another promise" do
    assert tests() |> Enum.map(&elem(&1, 0)) |> Enum.uniq() |> Enum.sort() == Enum.sort(promises())
  end

  test "each test is in its file" do
    assert length(tests()) >= 30

    for {_promise, file, test} <- tests() do
      title = ~r/^ *(test|both|on_both|rest) "(\#\{\w+\}: )?#{Regex.escape(test)}"/m
      assert File.read!(file) =~ title, "#{file} has no test #{inspect(test)}"
    end
  end
end
