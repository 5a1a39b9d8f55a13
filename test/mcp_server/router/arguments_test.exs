defmodule McpServer.Router.ArgumentsTest do
  # `formats:` and `repair:` of routers and tools, as a client and a handler see them.
  use McpServer.RouterCase, async: true

  alias McpServer.{Catalog, JSON, Protocol, Test}

  defmodule Handlers do
    import McpServer.Controller

    def show(_conn, arguments), do: {:ok, [text(inspect(arguments, limit: :infinity, printable_limit: :infinity))]}
  end

  defmodule Plain do
    use McpServer.Router, name: "plain"

    tool "book", "Books", Handlers, :show do
      input_field "on", "The day", :string, format: "date"
      input_field "at", "The time", :string, format: "time"
      input_field "seats", "How many", :integer
    end

    tool "note", "Notes", Handlers, :show, formats: :annotate do
      input_field "on", "The day", :string, format: "date"
    end

    tool "strict", "Is strict", Handlers, :show, formats: :assert do
      input_field "at", "The time", :string, format: "time"
    end

    tool "hosts", "Has its own", Handlers, :show, formats: ["hostname"] do
      input_field "on", "The day", :string, format: "date"
      input_field "host", "The host", :string, format: "hostname"
    end

    tool "mended", "Is mended", Handlers, :show, repair: true do
      input_field "seats", "How many", :integer, required: true

      input_field "names", "Whose", :array do
        items :string
      end
    end

    tool "deep", "Is deep", Handlers, :show, repair: true do
      input_schema %{
        "type" => "object",
        "properties" => %{"v" => %{"type" => "array", "items" => %{}}, "n" => %{"type" => "number"}}
      }
    end
  end

  defmodule Mending do
    use McpServer.Router, name: "mending", repair: true, formats: []

    tool "book", "Books", Handlers, :show do
      input_field "on", "The day", :string, format: "date"
      input_field "seats", "How many", :integer
    end

    tool "exact", "Is exact", Handlers, :show, repair: false do
      input_field "seats", "How many", :integer
    end
  end

  @eras ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]

  defp said(router, tool, arguments, options \\ []) do
    case Test.call_tool(router, tool, arguments, [receive_timeout: 60_000] ++ options) do
      {:ok, %{"content" => [%{"text" => text}]}} -> text
      {:error, %{"code" => -32602, "data" => %{"problems" => problems}}} -> Enum.map(problems, & &1["message"])
    end
  end

  describe "formats" do
    @tag req: "M16"
    test "a date that is none is refused, and the model is told, in every revision" do
      told = "/on: must be a date such as 2026-01-31 (format)"

      for revision <- @eras do
        refused = said(Plain, "book", %{"on" => "tomorrow"}, revision: revision)
        assert refused in [[told], "Invalid arguments for tool 'book':\n- #{told}"]
        assert said(Plain, "book", %{"on" => "2026-01-31"}, revision: revision) == ~s(%{"on" => "2026-01-31"})
      end
    end

    test "a time without an offset is what most mean by one" do
      assert said(Plain, "book", %{"at" => "09:30"}) == ~s(%{"at" => "09:30"})
    end

    test "a tool's own take the place of the router's" do
      assert said(Plain, "note", %{"on" => "tomorrow"}) == ~s(%{"on" => "tomorrow"})

      assert said(Plain, "strict", %{"at" => "09:30"}) =~
               "/at: must be a time with an offset such as 09:30:00Z (format)"

      assert said(Plain, "hosts", %{"on" => "tomorrow"}) == ~s(%{"on" => "tomorrow"})
      assert said(Plain, "hosts", %{"host" => "a b"}) =~ "/host: must be a host name such as example.com (format)"
      assert said(Mending, "book", %{"on" => "tomorrow"}) == ~s(%{"on" => "tomorrow"})
    end
  end

  describe "repair" do
    test "the handler gets what was meant, where that is asked for" do
      for revision <- @eras do
        assert said(Mending, "book", %{"seats" => "2"}, revision: revision) == ~s(%{"seats" => 2})
        assert said(Plain, "mended", %{"seats" => "2"}, revision: revision) == ~s(%{"seats" => 2})
      end

      assert said(Plain, "mended", %{"seats" => "2", "names" => "Ada"}) == ~s(%{"names" => ["Ada"], "seats" => 2})
    end

    @tag req: "M16"
    test "else it is refused, and so is what is still wrong, as it was sent" do
      told = "/seats: must be an integer (type)"

      for {router, tool} <- [{Plain, "book"}, {Mending, "exact"}],
          do: assert(said(router, tool, %{"seats" => "2"}) == "Invalid arguments for tool '#{tool}':\n- #{told}")

      assert said(Mending, "book", %{"seats" => "two"}) == "Invalid arguments for tool 'book':\n- #{told}"

      assert said(Plain, "mended", %{"seats" => "2", "names" => 5.5}) =~ "- #{told}"
    end

    test "large arguments are repaired too" do
      names = Enum.map(1..10_000, &"name #{&1}")
      assert said(Plain, "mended", %{"seats" => "2", "names" => names}) =~ ~s("seats" => 2)
      text = McpServer.JSON.encode!(names)
      assert said(Plain, "mended", %{"seats" => 2, "names" => text}) =~ "name 1"
    end

    defp called(arguments) do
      arguments = JSON.encode!(arguments)
      ~s({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deep","arguments":#{arguments}}})
    end

    defp admitted(message, limits, revision \\ "2025-11-25"),
      do: Protocol.admit(Catalog.fetch(Plain), %{revision: revision}, message, Protocol.limits(limits))

    @tag req: "M2"
    test "nothing gets around the limits of the message in a string" do
      nested = fn levels -> %{"v" => String.duplicate("[", levels) <> String.duplicate("]", levels)} end
      # The message, `params` and `arguments` take three levels.
      assert {:request, %{arguments: %{"v" => [[[[[]]]]]}}} = admitted(called(nested.(5)), %{max_depth: 8})
      assert {:reply, refused} = admitted(called(nested.(6)), %{max_depth: 8})
      assert IO.iodata_to_binary(refused) =~ "/v: must be an array (type)"
      # A batch takes one more level.
      batch = fn levels -> admitted("[#{called(nested.(levels))}]", %{max_depth: 8}, "2025-03-26") end
      assert {:batch, [{:request, %{arguments: %{"v" => [[[[]]]]}}}]} = batch.(4)
      assert {:batch, [{:reply, _refused}]} = batch.(5)
      # Eight values, including the string.
      values = fn count -> %{"v" => "[#{Enum.map_join(1..count, ",", &to_string/1)}]"} end
      assert {:request, %{arguments: %{"v" => [1, 2, 3, 4]}}} = admitted(called(values.(4)), %{max_values: 12})
      assert {:reply, _refused} = admitted(called(values.(5)), %{max_values: 12})
      assert {:request, %{arguments: %{"n" => 1234}}} = admitted(called(%{"n" => "1234"}), %{max_digits: 4})
      assert {:reply, _refused} = admitted(called(%{"n" => "12345"}), %{max_digits: 4})
      # Numbers beyond the default limit, on a server that allows them.
      long = String.duplicate("9", 2_000)
      assert {:reply, _refused} = admitted(called(%{"n" => long}), %{})
      long_number = String.to_integer(long)
      assert {:request, %{arguments: %{"n" => ^long_number}}} = admitted(called(%{"n" => long}), %{max_digits: 2_000})
    end
  end

  describe "mistakes" do
    @tool ~s(tool "t", "Does", McpServer.Router.ArgumentsTest.Handlers, :show)

    test "say what is allowed, at their line" do
      assert_refused(
        3,
        ~s(the formats of tool "t" are :annotate, :assert or a list of names such as "date", got: [:date]),
        """
        #{@tool}, formats: [:date]
        """
      )

      assert_refused(3, ~r/^the formats of tool "t": unknown format "dat"; known are date, date-time, duration, /, """
      #{@tool}, formats: ["dat"]
      """)

      assert_refused(3, ~r/repair/, """
      #{@tool}, repair: :always
      """)

      code = "defmodule McpServer.Router.ArgumentsTest.Mistake do\nuse McpServer.Router, formats: :strict\nend"
      error = assert_raise(CompileError, fn -> Code.compile_string(code, "router.ex") end)

      assert Exception.message(error) ==
               "router.ex:2: the formats of `use McpServer.Router` are :annotate, :assert or a list of names such as " <>
                 ~s("date", got: :strict)

      code = String.replace(code, ":strict", ~s(["colour"]))
      error = assert_raise(CompileError, fn -> Code.compile_string(code, "router.ex") end)

      assert Exception.message(error) =~
               ~s(router.ex:2: the formats of `use McpServer.Router`: unknown format "colour"; known)
    end
  end
end
