defmodule McpServer.OutlineTest do
  use ExUnit.Case, async: true

  alias McpServer.Outline

  doctest Outline

  # What a peer has written must not look like another line of the log, nor control a terminal or turn its text around.
  test "no control character of a text reaches a line" do
    for character <- Enum.concat([0..0x1F, 0x7F..0x9F, 0x2028..0x202E, 0x2066..0x2069]) do
      line = Outline.line("a" <> <<character::utf8>> <> "b")
      assert {character, line =~ ~r/\Aa\\[0-9A-Za-z{}]+b\z/} == {character, true}
    end

    for character <- [" ", "~", "ü", "\u00A0", "日"], do: assert(Outline.line(character) == character)
  end

  # Exceptions with the fields of those of Postgrex, MyXQL, Tds and Ecto.
  defmodule DatabaseError do
    defexception [:message, :postgres, :mysql, :mssql]
  end

  # Earlier, the details of a database were in the log, with the values of the refused row.
  test "of a database's error its code and its place stay" do
    details = "ERROR 23502 (not_null_violation) null value\n\n    Failing row contains (7, null, secret)."

    row = %{
      code: :not_null_violation,
      detail: "Failing row contains (7, null, secret).",
      table: "users",
      column: "name"
    }

    for {fields, said} <- [
          {[postgres: row], "postgres: not_null_violation, table users, column name"},
          {[postgres: %{code: :unique_violation, constraint: "users_email_index"}],
           "postgres: unique_violation, constraint users_email_index"},
          {[mysql: %{code: 1062, name: :ER_DUP_ENTRY}], "mysql: ER_DUP_ENTRY, 1062"},
          {[mssql: %{number: 2627, msg_text: "The duplicate key value is (secret)."}], "mssql: error 2627"},
          {[], "ERROR 23502 (not_null_violation) null value ..."}
        ] do
      assert {fields, Outline.message(struct!(DatabaseError, [message: details] ++ fields))} == {fields, said}
    end
  end

  test "invalid UTF-8 is escaped byte by byte" do
    assert Outline.line("a" <> <<0xFF, 0xC3>> <> "b") == ~S(a\xFF\xC3b)
  end
end
