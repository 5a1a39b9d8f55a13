defmodule McpServer.JSON.StructsTest do
  # Structs of other modules: only their allowed fields are sent. Not async: it reads the log.
  use ExUnit.Case, async: false
  use McpServer.Test, router: McpServer.RuntimeRouter

  import McpServer.TestLog

  alias McpServer.{DualResponse, Envelope, JSON, Tool}
  alias McpServer.DualResponse.Rest.Endpoint
  alias McpServer.JSON.EncodeError
  alias McpServer.Schema.Validator

  doctest McpServer.JSON.EncodeError

  defmodule User do
    @derive {McpServer.JSON.Encoder, only: [:name, :id, :home]}
    defstruct [:id, :name, :password_hash, :home]
  end

  defmodule Address do
    @derive {McpServer.JSON.Encoder, except: [:secret]}
    defstruct [:town, :street, :secret]
  end

  defmodule Account do
    defstruct [:id, :password_hash, __meta__: :built]
  end

  defmodule Money do
    defstruct [:amount, :currency]
  end

  defimpl McpServer.JSON.Encoder, for: Money do
    def term(%{amount: :raise} = money), do: raise(Protocol.UndefinedError, protocol: Enumerable, value: money)
    def term(%{amount: :throw}), do: throw(:hash)
    def term(%{amount: :exit}), do: exit({:secret, "hash"})
    def term(%{amount: :same} = money), do: money
    def term(%{amount: :account}), do: %{"account" => %McpServer.JSON.StructsTest.Account{}}
    def term(%{amount: {:in, user}}), do: [user]
    def term(money), do: "#{money.amount} #{money.currency}"
  end

  @hash "$2b$12$s3cr3t"
  @advice "A struct is sent by a rule of its own only. Where it is yours, name the fields above its defstruct: " <>
            "@derive {McpServer.JSON.Encoder, only: [...]}. Otherwise send a map of what is wanted, or implement " <>
            "McpServer.JSON.Encoder, Jason.Encoder or JSON.Encoder for it"

  defp user(fields \\ []), do: struct!(%User{id: 7, name: "Ada", password_hash: @hash}, fields)
  defp account, do: %Account{id: 1, password_hash: @hash}

  defp refused(term) do
    assert {:error, %EncodeError{} = error} = JSON.encode(term)
    {error.kind, error.path, error.detail}
  end

  describe "a struct that derives the encoder" do
    test "sends the fields it names, sorted, nil as null" do
      assert JSON.encode!(user()) == ~s({"home":null,"id":7,"name":"Ada"})
      assert JSON.encode!(%Address{town: "Ulm", secret: @hash}) == ~s({"street":null,"town":"Ulm"})
    end

    test "in lists and maps, and in each other" do
      rows = for id <- 1..3, do: user(id: id, home: %Address{town: "T#{id}"})
      text = fn id -> ~s({"home":{"street":null,"town":"T#{id}"},"id":#{id},"name":"Ada"}) end
      assert JSON.encode!(%{rows: rows}) == ~s({"rows":[#{text.(1)},#{text.(2)},#{text.(3)}]})
      assert JSON.encode!(%{rows: rows}, pretty: true) |> JSON.decode!() == JSON.decode!(JSON.encode!(%{rows: rows}))
      assert JSON.encode!(%{"b" => user(), "a" => 1}, order: ["b", "a"]) =~ ~s({"b":{"home":null,)
    end

    test "is written natively once its module is known" do
      JSON.encode!(user())
      assert {:ok, text} = McpServer.Native.json_encode(user(), {false, nil, []})
      assert text == JSON.encode!(user())
    end

    test "says where a value is that cannot be written" do
      assert refused([user(home: %Address{town: self()})]) == {:unsupported, [0, "home", "town"], "a pid"}
      assert {:missing_field, ["name"], _detail} = refused(Map.delete(user(), :name))
    end

    test "is a tool's result, with the fields it names" do
      home = %Address{town: "Ulm", street: nil, secret: @hash}
      expected = %{"home" => %{"street" => nil, "town" => "Ulm"}, "id" => 7, "name" => "Ada"}

      for returned <- [{:ok, user(home: home)}, user(home: home)] do
        assert {:ok, %{"structuredContent" => ^expected, "content" => [%{"text" => text}], "isError" => false}} =
                 call_tool("run", %{}, assigns: %{run: fn _conn, _arguments -> returned end})

        assert JSON.decode!(text) == expected
      end

      for returned <- [{:error, user()}, {:ok, account()}, {:ok, %Money{amount: 1, currency: "X"}}, {:ok, [user()]}] do
        run = fn _conn, _arguments -> returned end
        log = capture_log(fn -> assert {:ok, %{"isError" => true}} = call_tool("run", %{}, assigns: %{run: run}) end)
        refute log =~ "s3cr3t"
      end
    end

    test "is as deep as other objects" do
      deep = Enum.reduce(1..127, user(), fn _level, inner -> [inner] end)
      assert {:ok, _text} = JSON.encode(deep)
      assert {:too_deep, _path, _detail} = refused([deep])
    end

    test "sends other fields from when its module is loaded anew" do
      for {fields, text} <- [{"[:a, :b]", ~s({"a":1,"b":2})}, {"[:b]", ~s({"b":2})}, {"[:a]", ~s({"a":1})}] do
        Code.compiler_options(ignore_module_conflict: true)

        Code.compile_string("""
        defmodule McpServer.JSON.StructsTest.Changed do
          @derive {McpServer.JSON.Encoder, only: #{fields}}
          defstruct a: 1, b: 2
        end
        """)

        changed = struct!(Module.concat([__MODULE__, Changed]))
        assert {fields, JSON.encode!(changed)} == {fields, text}
      end
    after
      Code.compiler_options(ignore_module_conflict: false)
    end

    test "names its fields, and only those it has" do
      for {derived, fault} <- [
            {"McpServer.JSON.Encoder", "has to name the fields that are sent; its fields are [:a, :b]"},
            {"{McpServer.JSON.Encoder, only: []}", "has to name the fields that are sent; its fields are [:a, :b]"},
            {"{McpServer.JSON.Encoder, only: [:a], except: [:b]}", "has to name the fields that are sent"},
            {"{McpServer.JSON.Encoder, only: [:a, :x]}", "names [:x], which are no fields; its fields are [:a, :b]"},
            {"{McpServer.JSON.Encoder, except: [:x]}", "names [:x], which are no fields; its fields are [:a, :b]"}
          ] do
        error =
          assert_raise ArgumentError, fn ->
            Code.compile_string(
              "defmodule McpServer.JSON.StructsTest.Bad do @derive #{derived}; defstruct [:a, :b] end"
            )
          end

        assert Exception.message(error) =~
                 "@derive {McpServer.JSON.Encoder, only: [...]} of McpServer.JSON.StructsTest.Bad " <> fault
      end
    end
  end

  describe "a struct that implements the encoder" do
    test "is the term it gives" do
      assert JSON.encode!([%Money{amount: 5, currency: "EUR"}]) == ~s(["5 EUR"])
      assert JSON.encode!(%Money{amount: {:in, user()}}) == ~s([{"home":null,"id":7,"name":"Ada"}])
      assert JSON.encode!(user(home: %Money{amount: 1, currency: "X"})) == ~s({"home":"1 X","id":7,"name":"Ada"})

      assert JSON.encode!(%Tool.CallResult{content: [], structured_content: %{m: %Money{amount: 1, currency: "X"}}}) =~
               "1 X"
    end

    test "that fails is an error that tells nothing of it" do
      name = "the McpServer.JSON.Encoder of %McpServer.JSON.StructsTest.Money{}"

      for {amount, what} <- [raise: "raised Protocol.UndefinedError", throw: "threw a value", exit: "exited"] do
        money = %Money{amount: amount, currency: @hash}
        assert refused(%{"a" => [money]}) == {:encoder_failed, ["a", 0], "#{name} #{what}"}
      end

      assert {:unknown_struct, [], _module} = refused(%Money{amount: :same})
      assert {:unknown_struct, ["account"], "McpServer.JSON.StructsTest.Account"} = refused(%Money{amount: :account})
    end
  end

  describe "any other struct" do
    test "is an error that names it, says where it is and what to write" do
      assert refused(%{users: [account()]}) == {:unknown_struct, ["users", 0], inspect(Account)}
      {:error, error} = JSON.encode(%{users: [account()]})

      assert Exception.message(error) ==
               "cannot encode the struct %McpServer.JSON.StructsTest.Account{}, at /users/0. #{@advice}"

      refute inspect(error) =~ @hash
    end

    test "of Elixir's own" do
      for struct <- [
            MapSet.new([1]),
            1..3,
            URI.parse("https://a"),
            %RuntimeError{},
            ~r/a/,
            %Version{major: 1, minor: 0, patch: 0}
          ] do
        name = inspect(struct.__struct__)
        assert {:unknown_struct, ["x"], ^name} = refused(%{"x" => struct})
      end
    end

    test "inside of structs that are sent" do
      assert {:unknown_struct, ["home"], _module} = refused(user(home: account()))
      assert {:unknown_struct, ["_meta"], _module} = refused(%Tool{name: "t", inputSchema: %{}, _meta: account()})
      result = %Tool.CallResult{content: [], structured_content: %{"a" => account()}}
      assert {:unknown_struct, ["structuredContent", "a"], _module} = refused(result)
      assert {:unknown_struct, ["data", "a"], _module} = refused(Envelope.success(%{a: account()}))
    end

    test "is no value that a schema takes" do
      {:ok, schema} = Validator.compile(%{"type" => "object", "properties" => %{"u" => %{"required" => ["id"]}}})
      assert Validator.validate(schema, %{"u" => user()}) == :ok
      assert Validator.validate(schema, %{"u" => %Money{amount: 1, currency: "X"}}) == :ok
      assert {:error, error} = Validator.validate(schema, %{"u" => account()})
      assert Exception.message(error) =~ "cannot encode the struct %McpServer.JSON.StructsTest.Account{}, at /u"
      assert {:ok, _term, []} = Validator.repair(schema, %{"u" => user()})
      assert {:error, _error} = Validator.repair(schema, %{"u" => account()})
    end

    test "does not leave as a tool's result" do
      for tool <- ["run", "sum"] do
        run = fn _conn, _arguments -> {:ok, %{"sum" => 1, "user" => account()}} end

        log =
          capture_log(fn ->
            assert {:ok, %{"isError" => true} = result} = call_tool(tool, %{}, assigns: %{run: run})
            refute inspect(result) =~ "Account"
          end)

        assert log =~ "cannot encode the struct %McpServer.JSON.StructsTest.Account{}, at /"
        assert log =~ "@derive {McpServer.JSON.Encoder, only: [...]}"
        refute log =~ "s3cr3t"
      end

      run = fn _conn, _arguments -> {:ok, %{"sum" => 1, "user" => user()}} end
      expected = %{"sum" => 1, "user" => %{"home" => nil, "id" => 7, "name" => "Ada"}}

      for tool <- ["run", "sum"],
          do: assert({:ok, %{"structuredContent" => ^expected}} = call_tool(tool, %{}, assigns: %{run: run}))
    end

    test "does not leave as an error's data" do
      for {data, sent} <- [
            {%{u: account()}, nil},
            {%{u: user()}, %{"u" => %{"home" => nil, "id" => 7, "name" => "Ada"}}}
          ] do
        run = fn _conn, _arguments -> {:error, %McpServer.JsonRpc.Error{code: -32_000, message: "no", data: data}} end
        assert {:error, error} = call_tool("run", %{}, assigns: %{run: run})
        assert {error["code"], error["data"]} == {-32_000, sent}
      end
    end

    test "does not leave as a row" do
      for rows <- [[account()], [%{"u" => account()}]] do
        assert {:error, %{kind: :unknown_struct}} = Endpoint.page(rows, 0, 1)
        assert {:error, %{kind: :unknown_struct}} = Endpoint.lines(rows, nil)
        assert {:error, %{kind: :unknown_struct}} = Endpoint.lines(rows, ["id", "password_hash", "u"])
      end
    end

    test "a row sends the columns that it derives" do
      assert {:ok, page} = Endpoint.page([user()], 0, 1)
      assert %{"data" => [%{"home" => nil, "id" => 7, "name" => "Ada"}]} = JSON.decode!(page)
      assert Endpoint.lines([user()], nil) == {:ok, ~s({"home":null,"id":7,"name":"Ada"}\n)}
      assert Endpoint.lines([user()], ["id", "password_hash", "name"]) == {:ok, "7,,Ada\r\n"}
    end
  end

  test "the columns of a spilled result are those that are sent" do
    rows = for id <- 1..200, do: user(id: id)
    server = McpServer.DualResponses.server()
    result = %Tool.CallResult{content: [], structured_content: %{"users" => rows}}
    conn = %McpServer.Conn{}
    overflow = %{tool: "users", returned: {:ok, result}, result: result, bytes: 10_000, small: 1_000}
    assert {:ok, spill} = DualResponse.Spill.store(server, conn, overflow)
    assert for(column <- spill.response.columns, do: column["name"]) == ["home", "id", "name"]
  end
end
