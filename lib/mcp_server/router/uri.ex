defmodule McpServer.Router.Uri do
  @moduledoc false
  # Checks a resource's URI while the router compiles, and finds its variables. The core decides whether a template can
  # be matched unambiguously.

  @doc """
  The variables of a URI or URI template, `[]` for a plain URI.

      iex> McpServer.Router.Uri.variables("users://{id}{?page,size}")
      {:ok, ["id", "page", "size"]}
      iex> McpServer.Router.Uri.variables("not a uri")
      {:error, "it does not begin with a scheme, like https:"}
  """
  @spec variables(String.t()) :: {:ok, [String.t()]} | {:error, String.t()}
  def variables(uri) do
    literal = Regex.replace(expression(), uri, "")

    cond do
      not (uri =~ absolute()) -> {:error, "it does not begin with a scheme, like https:"}
      meant = Regex.run(foreign_variable(), uri, capture: :all_but_first) -> {:error, meant(meant)}
      literal =~ ~r/[{}]/ -> {:error, "its braces do not match"}
      not (literal =~ character()) -> {:error, "it has a character that must be percent-encoded"}
      literal =~ stray_percent() -> {:error, "it has a % that is no percent-encoding"}
      true -> names(uri)
    end
  end

  defp meant(captures) do
    [written, name] = Enum.reject(captures, &(&1 == ""))
    "a variable is written {#{name}}, not #{written}"
  end

  defp names(uri) do
    expressions = for [_all, expression] <- Regex.scan(expression(), uri), do: expression

    case Enum.reject(expressions, &(&1 =~ variables())) do
      [] -> distinct(Enum.flat_map(expressions, &names_in/1))
      [bad | _rest] -> {:error, "{#{bad}} is no expression of RFC 6570"}
    end
  end

  defp names_in(expression) do
    expression
    |> String.replace(~r/\A[+#.\/;?&]/, "")
    |> String.split(",")
    |> Enum.map(&String.replace(&1, ~r/(:[0-9]+|\*)\z/, ""))
  end

  defp distinct(names) do
    case names -- Enum.uniq(names) do
      [] -> {:ok, names}
      [twice | _rest] -> {:error, "it has the variable #{twice} twice"}
    end
  end

  # Functions, because since Erlang/OTP 28 a compiled regular expression is a reference, which an attribute cannot
  # store.
  defp absolute, do: ~r/\A[A-Za-z][A-Za-z0-9+.-]*:[^\s]/
  defp character, do: ~r/\A[A-Za-z0-9\-._~:\/?#\[\]@!$&'()*+,;=%]*\z/
  # Variables in the syntax of other templates: `/:id`, `<id>`.
  defp foreign_variable, do: ~r/(?<=\/)(:([A-Za-z_]\w*))(?=[\/?#]|\z)|(<([A-Za-z_]\w*)>)/
  defp stray_percent, do: ~r/%(?![0-9A-Fa-f]{2})/
  defp expression, do: ~r/\{([^{}]*)\}/

  defp variables,
    do:
      ~r/\A[+#.\/;?&]?((?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:[A-Za-z0-9_.]|%[0-9A-Fa-f]{2})*(?::[1-9][0-9]{0,3}|\*)?)(?:,(?1))*\z/
end
