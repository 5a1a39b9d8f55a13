defmodule McpServer.Dispatch.Reason do
  @moduledoc false
  # What an application's functions give as the reason of an error, in words for the client: a changeset of Ecto, an atom,
  # and an exception with an HTTP status below 500. The library does not depend on Ecto and Plug.

  require Logger

  alias McpServer.{JsonRpc, Request}
  alias McpServer.Dispatch.Failure

  @compile {:no_warn_undefined, Plug.Exception}

  # Without `phoenix_ecto`, which gives Ecto's exceptions these statuses. An adapter raises the first one for a value that
  # the column cannot hold, such as an integer of 40 bits.
  @statuses %{
    DBConnection.EncodeError => 400,
    Ecto.CastError => 400,
    Ecto.Query.CastError => 400,
    Ecto.NoResultsError => 404,
    Ecto.StaleEntryError => 409
  }

  # SQLSTATEs of class 22, with which PostgreSQL itself says that a column cannot hold a value: too long, out of range, no
  # date, no encoded text, no text of the type. A decimal may get out of range when it is rounded.
  @misfits ~w(22001 22003 22007 22008 22021 22P02)

  @phrases %{
    400 => "Invalid value",
    401 => "Unauthorized",
    403 => "Forbidden",
    404 => "Not found",
    409 => "Conflict",
    410 => "Gone",
    422 => "Invalid value",
    423 => "Locked",
    429 => "Too many requests"
  }

  @doc """
  The outcome of a request whose handler returned the reason, or `nil`. A tool has a text for the model. For other requests
  a changeset and `:not_found` tell that the parameters are invalid; what another atom tells is not known.
  """
  @spec returned(Request.t(), term()) :: {:error, String.t() | JsonRpc.Error.t()} | nil
  def returned(request, reason) do
    case text(request, reason) do
      nil -> nil
      text when is_struct(reason) or reason == :not_found -> mistake(request, text)
      text -> {:error, text}
    end
  end

  defp mistake(%{kind: :tool}, text), do: {:error, text}
  defp mistake(_request, text), do: {:error, %JsonRpc.Error{code: JsonRpc.Error.code(:invalid_params), message: text}}

  @doc "The words for a reason, or `nil`."
  @spec text(Request.t(), term()) :: String.t() | nil
  def text(request, %{__struct__: Ecto.Changeset} = changeset) do
    case problems(changeset, "") do
      [] -> nil
      problems -> head(request, changeset) <> Enum.map_join(problems, "\n", &("- " <> &1))
    end
  end

  def text(_request, reason) when is_atom(reason) and reason not in [nil, true, false] do
    words = reason |> Atom.to_string() |> String.replace("_", " ")
    # A module is no reason.
    if words =~ ~r/\A[a-z]/, do: String.capitalize(words)
  end

  def text(_request, _reason), do: nil

  # No argument is wrong: what the row belongs to forbids it.
  defp head(_request, %{action: :delete}), do: "It cannot be deleted:\n"
  # The words for invalid arguments, which a model knows how to act on.
  defp head(%{kind: :tool, name: name}, _changeset), do: "Invalid arguments for tool '#{name}':\n"
  defp head(_request, _changeset), do: "Invalid values:\n"

  defp problems(%{errors: errors, changes: changes}, path) do
    own = for {field, {message, details}} <- Enum.reverse(errors), do: "#{path}/#{field}: #{filled(message, details)}"
    own ++ Enum.flat_map(Enum.sort(changes), fn {field, change} -> nested(change, "#{path}/#{field}") end)
  end

  defp nested(%{__struct__: Ecto.Changeset} = changeset, path), do: problems(changeset, path)

  defp nested([%{__struct__: Ecto.Changeset} | _more] = changesets, path) do
    for {changeset, index} <- Enum.with_index(changesets), problem <- nested(changeset, "#{path}/#{index}"), do: problem
  end

  defp nested(_value, _path), do: []

  # `should be at most %{count} character(s)`
  defp filled(message, details) do
    for {name, value} <- details, text?(value), reduce: message do
      message -> String.replace(message, "%{#{name}}", to_string(value))
    end
  end

  # A bound of a decimal is a struct.
  defp text?(value) when is_binary(value) or is_number(value) or is_atom(value), do: true
  defp text?(value), do: is_struct(value) and String.Chars.impl_for(value) != nil

  @doc """
  The outcome of a request whose handler raised the exception, if its status is one of a client's mistake. The exception's
  message may contain a query, so the words are those of the status.
  """
  @spec raised(Request.t(), term(), Exception.stacktrace()) ::
          {:error, String.t() | JsonRpc.Error.t() | :not_found} | nil
  def raised(request, reason, stacktrace)

  def raised(request, %{__struct__: Ecto.InvalidChangesetError, changeset: changeset}, _stacktrace),
    do: returned(request, changeset)

  def raised(request, exception, stacktrace) when is_exception(exception) do
    if mistake?(exception) do
      status = status(exception)
      note(request, exception, status, stacktrace)
      refused(request, status)
    end
  end

  def raised(_request, _reason, _stacktrace), do: nil

  # A variable of the URI that no row can have, such as `notes://abc`, is status 400.
  defp refused(%{kind: kind}, status) when kind in [:resource, :resource_template] and status in [400, 404, 410],
    do: {:error, :not_found}

  defp refused(request, status), do: mistake(request, Map.get(@phrases, status, "Refused (status #{status})"))

  @doc "Whether a raised reason has the status of a client's mistake."
  @spec mistake?(term()) :: boolean()
  def mistake?(reason), do: is_exception(reason) and status(reason) in 400..499

  # It may be a mistake of the handler, too, and then its author needs the place.
  defp note(request, %module{}, status, stacktrace) do
    Logger.info(
      "MCP #{request.method}#{entry(request)}: the handler raised #{inspect(module)}, which is status #{status} for the " <>
        "client#{Failure.trace(stacktrace)}"
    )
  end

  # A URI is a client's data.
  defp entry(%{kind: kind, name: name}) when kind in [:tool, :prompt], do: " #{inspect(name)}"
  defp entry(_request), do: ""

  defp status(%{postgres: %{pg_code: code}}) when code in @misfits, do: 400

  defp status(%module{} = exception) do
    with 500 <- by_plug(exception), do: Map.get(@statuses, module, 500)
  end

  # Without Plug the field of Plug's own exceptions counts.
  defp by_plug(exception) do
    if Code.ensure_loaded?(Plug.Exception),
      do: Plug.Exception.status(exception),
      else: Map.get(exception, :plug_status, 500)
  end
end
