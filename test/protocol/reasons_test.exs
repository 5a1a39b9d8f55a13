defmodule McpServer.Protocol.ReasonsTest do
  # What contexts of an application return and raise for mistakes of their caller, in words for the client. The structs
  # of Ecto are written out, because Ecto is not installed. Not async: one test reads the log.
  use ExUnit.Case, async: false
  use McpServer.Test, router: McpServer.RuntimeRouter

  import McpServer.TestLog, only: [with_log: 1]

  defmodule Refused do
    @moduledoc false
    defexception [:message, plug_status: 422]
  end

  defmodule OwnFault do
    @moduledoc false
    defexception [:message, plug_status: 503]
  end

  @eras ["2025-11-25", "2026-07-28"]

  defp changeset(errors, changes \\ %{}),
    do: %{__struct__: Ecto.Changeset, errors: errors, changes: changes, valid?: errors == [], action: :insert}

  defp exception(module, fields \\ []),
    do: Map.merge(%{__struct__: module, __exception__: true, message: "SELECT secret"}, Map.new(fields))

  defp giving(fun), do: [assigns: %{run: fun}]
  defp returning(value), do: giving(fn _conn, _arguments -> value end)
  defp raising(exception), do: giving(fn _conn, _arguments -> :erlang.error(exception) end)

  defp words({:ok, %{"isError" => true, "content" => [%{"text" => text}]}}), do: text
  defp words({:error, %{"code" => -32603, "message" => text}}), do: text

  # The client's parameters are invalid.
  defp mistake({:error, %{"code" => -32602, "message" => text}}), do: text

  describe "a changeset with errors" do
    test "has the words of invalid arguments" do
      # Ecto puts new errors before the others.
      changeset =
        changeset(
          [
            title: {"should be at most %{count} character(s)", [count: 40, validation: :length, kind: :max]},
            # A bound of a decimal or of a date is a struct.
            due: {"must be after %{after}, %{other}", [after: ~D[2026-01-31], other: {1, 2}]},
            name: {"has already been taken", [constraint: :unique, constraint_name: "users_name_index"]}
          ],
          %{
            name: "Ada",
            address: changeset(city: {"can't be blank", [validation: :required]}),
            lines: [changeset([]), changeset([n: {"is invalid", [type: :integer, validation: :cast]}], %{"x" => 1})],
            tags: ["a"]
          }
        )

      for revision <- @eras do
        assert words(call_tool("run", %{}, [revision: revision] ++ returning({:error, changeset}))) ==
                 """
                 Invalid arguments for tool 'run':
                 - /name: has already been taken
                 - /due: must be after 2026-01-31, %{other}
                 - /title: should be at most 40 character(s)
                 - /address/city: can't be blank
                 - /lines/1/n: is invalid\
                 """
      end
    end

    # Earlier, the tool's arguments were said to be invalid.
    test "of a row that cannot be deleted says so" do
      changeset = %{changeset(visits: {"are still associated with this entry", []}) | action: :delete}
      words = words(call_tool("run", %{}, returning({:error, changeset})))
      assert words == "It cannot be deleted:\n- /visits: are still associated with this entry"
    end

    test "is an error of a prompt, a resource and a completion" do
      options = returning({:error, changeset(name: {"is reserved", []})})

      for answer <- [
            get_prompt("run", %{}, options),
            read_resource("run://fixed", options),
            complete_prompt("run", "name", "", options)
          ],
          do: assert(mistake(answer) == "Invalid values:\n- /name: is reserved")
    end

    test "may be raised" do
      raised = exception(Ecto.InvalidChangesetError, changeset: changeset(name: {"is reserved", []}))
      assert words(call_tool("run", %{}, raising(raised))) == "Invalid arguments for tool 'run':\n- /name: is reserved"
    end

    test "without errors is no result" do
      {answer, log} = with_log(fn -> call_tool("run", %{}, returning({:error, changeset([])})) end)
      assert words(answer) =~ ~r/\ATool execution failed \(error id/
      assert log =~ "returned {:error, #Ecto.Changeset<...>}"
    end
  end

  test "the error of a dual response is its message" do
    error = McpServer.DualResponse.Error.new(:storage_error, "The store is full")

    for revision <- @eras,
        do:
          assert(
            words(call_tool("run", %{}, [revision: revision] ++ returning({:error, error}))) == "The store is full"
          )
  end

  describe "an atom" do
    test "is its words" do
      for {atom, text} <- [not_found: "Not found", already_taken: "Already taken", full: "Full"] do
        for revision <- @eras,
            do: assert(words(call_tool("run", %{}, [revision: revision] ++ returning({:error, atom}))) == text)

        told = if atom == :not_found, do: &mistake/1, else: &words/1
        assert told.(get_prompt("run", %{}, returning({:error, atom}))) == text
        assert told.(complete_prompt("run", "name", "", returning({:error, atom}))) == text
      end

      assert words(read_resource("run://fixed", returning({:error, :locked}))) == "Locked"

      assert {:error, %{"message" => "Resource not found"}} =
               read_resource("run://fixed", returning({:error, :not_found}))
    end

    test "that is no reason is no result" do
      for atom <- [nil, true, false, String] do
        {answer, log} = with_log(fn -> call_tool("run", %{}, returning({:error, atom})) end)
        assert words(answer) =~ ~r/\ATool execution failed \(error id/
        assert log =~ "returned {:error, #{inspect(atom)}}"
      end
    end
  end

  describe "an exception with the status of a client's mistake" do
    test "has the words of its status, without its own" do
      for {raised, text} <- [
            {exception(Ecto.NoResultsError), "Not found"},
            {exception(Ecto.Query.CastError), "Invalid value"},
            {exception(Ecto.CastError), "Invalid value"},
            {exception(DBConnection.EncodeError), "Invalid value"},
            # A decimal that PostgreSQL has rounded beyond its column.
            {exception(Postgrex.Error, postgres: %{pg_code: "22003", code: :numeric_value_out_of_range}),
             "Invalid value"},
            {exception(Ecto.StaleEntryError), "Conflict"},
            {%Refused{message: "secret"}, "Invalid value"},
            {%Refused{message: "secret", plug_status: 418}, "Refused (status 418)"}
          ] do
        {answers, log} =
          with_log(fn ->
            for revision <- @eras, do: words(call_tool("run", %{}, [revision: revision] ++ raising(raised)))
          end)

        assert answers == [text, text]
        assert log =~ ~s(MCP tools/call "run": the handler raised #{inspect(raised.__struct__)}, which is status)
        # Where, because it may be a mistake of the handler.
        assert log =~ "test/protocol/reasons_test.exs:"
        refute log =~ "secret"
      end
    end

    test "is a resource that is not there" do
      for module <- [Ecto.NoResultsError, Ecto.Query.CastError] do
        {answer, _log} = with_log(fn -> read_resource("run://fixed", raising(exception(module))) end)
        assert {:error, %{"message" => "Resource not found", "data" => %{"uri" => "run://fixed"}}} = answer
      end

      {answer, _log} = with_log(fn -> read_resource("run://fixed", raising(exception(Ecto.StaleEntryError))) end)
      assert mistake(answer) == "Conflict"
    end

    test "is a mistake in the parameters of a prompt and of a completion" do
      raised = exception(Ecto.NoResultsError)

      for ask <- [&get_prompt("run", %{}, &1), &complete_prompt("run", "name", "", &1)] do
        {answer, _log} = with_log(fn -> ask.(raising(raised)) end)
        assert mistake(answer) == "Not found"
      end
    end

    test "is a failure beyond it" do
      for raised <- [%OwnFault{message: "secret"}, %RuntimeError{message: "own"}] do
        {answer, log} = with_log(fn -> call_tool("run", %{}, raising(raised)) end)
        assert words(answer) =~ ~r/\ATool execution failed \(error id/
        assert log =~ "[error]"
      end
    end
  end
end
