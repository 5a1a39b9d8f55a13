defmodule McpServer.InstallTest do
  use ExUnit.Case, async: true

  alias McpServer.Install
  alias McpServer.Install.{ConfigFile, JsonText, Launch, Place, Table}

  @moduletag :tmp_dir

  @golden "test/fixtures/install"
  @stdio %{name: "my server", command: "/bin/sh", args: ["-c", "cd '/it'\\''s here' && exec mix mcp.stdio \"A\""]}
  @http %{name: "my server", url: "http://127.0.0.1:4040/mcp", headers: []}

  defp machine(dir, os \\ :linux, env \\ %{}),
    do: %{os: os, home: Path.join(dir, "home"), env: &Map.get(env, &1), project: Path.join(dir, "project")}

  defp options(dir, more \\ []),
    do: Map.merge(%{scope: :user, machine: machine(dir), find: fn _name -> nil end}, Map.new(more))

  defp client(id), do: with({:ok, client} <- Table.fetch(id), do: client)

  # A client's configuration file with earlier content.
  defp file(client, dir) do
    {:ok, path} = Place.file(client, :user, machine(dir))
    File.mkdir_p!(Path.dirname(path))
    File.cp!(Path.join(@golden, "#{client.id}.before"), path)
    path
  end

  defp golden(name, text), do: assert(text == File.read!(Path.join(@golden, name)))

  describe "every client" do
    @tag slow: "every file of every client"
    test "JSON files: before and after, the same again, and as before without the server", %{tmp_dir: dir} do
      for %{format: :json, user: user} = client <- Table.all(), user != nil do
        path = file(client, dir)
        before = File.read!(path)

        assert {:done, said} = Install.install(client, @stdio, options(dir))
        assert said =~ ~r/\A(added|replaced) my server (to|in) #{path}; what it was is in #{path}.bak\z/
        golden("#{client.id}.stdio", File.read!(path))
        assert File.read!(path <> ".bak") == before

        assert Install.install(client, @stdio, options(dir)) ==
                 {:done, "my server is in #{path} already, as it should be"}

        refute File.exists?(path <> ".bak.1")

        assert {:done, "removed my server from " <> _rest} = Install.uninstall(client, "my server", options(dir))
        golden("#{client.id}.removed", File.read!(path))
        assert Install.uninstall(client, "my server", options(dir)) == {:done, "there is no my server in #{path}"}

        if client.http do
          File.write!(path, before)
          assert {:done, _said} = Install.install(client, @http, options(dir))
          golden("#{client.id}.http", File.read!(path))
        end
      end
    end

    test "TOML and YAML: the file stays, the block is to be pasted", %{tmp_dir: dir} do
      for id <- ["codex", "goose"],
          {kind, server} <- [stdio: @stdio, http: %{@http | headers: [{"authorization", "Bearer x"}]}] do
        client = client(id)
        {:ok, path} = Place.file(client, :user, machine(dir))
        assert {:paste, reason, ^path, block} = Install.install(client, server, options(dir))
        assert reason == "#{path} is #{String.upcase(to_string(client.format))}, which is not rewritten"
        refute File.exists?(path)
        golden("#{id}.#{kind}", block)

        assert {:error, "#{path} is not rewritten; remove \"my server\" from #{client.key} by hand"} ==
                 Install.uninstall(client, "my server", options(dir))
      end
    end

    test "a file that is not there is made, for its owner only", %{tmp_dir: dir} do
      client = client("cursor")
      path = Path.join(dir, "project/.cursor/mcp.json")
      assert Install.install(client, @http, options(dir, scope: :project)) == {:done, "added my server to #{path}"}

      assert {:ok,
              ~s({\n  "mcpServers": {\n    "my server": {\n      "url": "http://127.0.0.1:4040/mcp"\n    }\n  }\n}\n)} ==
               File.read(path)

      assert Bitwise.band(File.stat!(path).mode, 0o777) == 0o600
    end

    test "a scope without a file, headers that are not known, and a URL that is not taken", %{tmp_dir: dir} do
      assert Install.install(client("windsurf"), @stdio, options(dir, scope: :project)) ==
               {:error, "Windsurf has no file for the scope project"}

      assert Install.install(client("mcp-json"), @stdio, options(dir)) ==
               {:error, "the generic form has no file: use --print"}

      server = %{@http | headers: [{"a", "b"}]}

      assert Install.install(client("windsurf"), server, options(dir)) ==
               {:error, "Windsurf is not known to take headers from its file"}

      assert Install.install(client("claude-desktop"), @http, options(dir)) ==
               {:error, "Claude Desktop takes no URL from its file"}

      assert {:done, _said} = Install.install(client("vscode"), server, options(dir))
      {:ok, path} = Place.file(client("vscode"), :user, machine(dir))
      assert File.read!(path) =~ ~s("headers": {\n        "a": "b"\n      })
    end

    test "an unknown client", _context do
      assert Install.client("curser") == {:error, "there is no client curser, did you mean cursor?"}

      assert {:error, "there is no client zzz. There are: claude-desktop, claude-code, " <> _others} =
               Install.client("zzz")
    end
  end

  describe "places" do
    test "of each system and environment", %{tmp_dir: dir} do
      home = Path.join(dir, "home")

      for {id, os, env, path} <- [
            {"claude-desktop", :darwin, %{}, "Library/Application Support/Claude/claude_desktop_config.json"},
            {"claude-desktop", :linux, %{"XDG_CONFIG_HOME" => home <> "/x"}, "x/Claude/claude_desktop_config.json"},
            {"vscode", :darwin, %{}, "Library/Application Support/Code/User/mcp.json"},
            {"codex", :linux, %{"CODEX_HOME" => home <> "/c"}, "c/config.toml"},
            {"codex", :linux, %{"CODEX_HOME" => ""}, ".codex/config.toml"},
            {"copilot", :linux, %{}, ".copilot/mcp-config.json"},
            {"zed", :darwin, %{}, ".config/zed/settings.json"},
            {"goose", :linux, %{}, ".config/goose/config.yaml"},
            {"claude-desktop", :windows, %{"APPDATA" => home <> "/r"}, "r/Claude/claude_desktop_config.json"},
            {"claude-desktop", :windows, %{}, "AppData/Roaming/Claude/claude_desktop_config.json"},
            {"vscode", :windows, %{"APPDATA" => home <> "/r"}, "r/Code/User/mcp.json"},
            {"cursor", :windows, %{}, ".cursor/mcp.json"},
            {"codex", :windows, %{}, ".codex/config.toml"}
          ],
          do: assert(Place.file(client(id), :user, machine(dir, os, env)) == {:ok, Path.join(home, path)})

      second = Path.join(home, "Library/Application Support/Zed/settings.json")
      File.mkdir_p!(Path.dirname(second))
      File.write!(second, "{}")
      assert Place.file(client("zed"), :user, machine(dir, :darwin)) == {:ok, second}
    end
  end

  describe "names" do
    test "that a shell, a file or a person could misread are refused", %{tmp_dir: dir} do
      for name <- [
            "",
            "-rf",
            "--help",
            "_a",
            ".a",
            "a;b",
            "a\nb",
            "../\"x",
            "$(rm)",
            " a",
            "a ",
            "ä",
            String.duplicate("a", 65),
            "a\n"
          ],
          client <- Table.all() do
        refused =
          {:error,
           "the name of a server is 1 to 64 characters of A-Z a-z 0-9 space _ . -, of which the first is a letter or a " <>
             "digit, got: #{inspect(name)}"}

        assert Install.install(client, %{@stdio | name: name}, options(dir)) == refused
        assert Install.uninstall(client, name, options(dir)) == refused
        assert Install.block(client, %{@stdio | name: name}) == refused
      end

      assert File.ls(dir) == {:ok, []}
    end
  end

  describe "files that are not changed" do
    @broken " is not JSON with an object, and was left as it is"

    for %{format: :json, user: user, id: id, key: key} <- Table.all(), user != nil do
      test "of #{id}: with comments, broken, of another form, or not to be read", %{tmp_dir: dir} do
        path = Path.join(dir, "config.json")
        options = options(dir, config_path: path)

        for {text, reason} <- [
              {~s({\n  // mine\n  "KEY": {"a": {"url": "http://b"},},\n}), " has comments, and is not rewritten"},
              {"{\n  \"KEY\": {\n", @broken},
              {"[1]", @broken},
              {~s({"KEY": {}, "KEY": {}}), @broken}
            ] do
          text = String.replace(text, "KEY", unquote(key))
          File.write!(path, text)
          assert {:paste, said, ^path, block} = Install.install(client(unquote(id)), @stdio, options)
          assert said == path <> reason
          assert block =~ ~s("my server": {)
          assert {:error, said} = Install.uninstall(client(unquote(id)), "my server", options)
          assert said == "#{path}#{reason}; remove \"my server\" from #{unquote(key)} by hand"
          assert File.read!(path) == text
          assert File.ls(dir) == {:ok, ["config.json"]}
        end

        File.write!(path, ~s({"#{unquote(key)}": []}))
        assert {:paste, said, ^path, _block} = Install.install(client(unquote(id)), @stdio, options)
        assert said == "\"#{unquote(key)}\" in #{path} is not an object; the file was left as it is"
        assert File.ls(dir) == {:ok, ["config.json"]}
      end
    end

    test "a link stays a link, the mode stays, and no backup is overwritten", %{tmp_dir: dir} do
      real = Path.join(dir, "dotfiles.json")
      link = Path.join(dir, "link.json")
      File.write!(real, "{}")
      File.chmod!(real, 0o640)
      File.ln_s!("dotfiles.json", link)
      File.write!(real <> ".bak", "older")
      # A link without a target, which somebody has put there.
      elsewhere = Path.join(dir, "elsewhere")
      File.ln_s!(elsewhere, real <> ".bak.1")
      assert {:ok, {:added, backup}} = ConfigFile.put(link, "k", "n", [{"a", 1}])
      assert backup == real <> ".bak.2"
      assert {File.read!(backup), Bitwise.band(File.stat!(backup).mode, 0o777)} == {"{}", 0o640}
      refute File.exists?(elsewhere)
      assert File.read!(real <> ".bak") == "older"
      assert File.read_link(link) == {:ok, "dotfiles.json"}
      assert Bitwise.band(File.stat!(real).mode, 0o777) == 0o640
      assert File.read!(real) == ~s({\n  "k": {\n    "n": {\n      "a": 1\n    }\n  }\n})
    end
  end

  describe "a client's own command" do
    test "is used where it is installed and can say it all", %{tmp_dir: dir} do
      here = self()

      run = fn program, arguments ->
        send(here, {program, arguments})
        {"", 0}
      end

      options = options(dir, find: &("/bin/" <> &1), run: run)
      headers = %{@http | headers: [{"a", "b"}]}

      for {id, server, arguments} <- [
            {"claude-code", @stdio, ["-s", "user", "my server", "--", @stdio.command | @stdio.args]},
            {"claude-code", headers, ["-s", "user", "--transport", "http", "my server", @http.url, "--header", "a: b"]},
            {"gemini", @stdio, ["-s", "user", "my server", @stdio.command, "--" | @stdio.args]},
            {"codex", @stdio, ["my server", "--", @stdio.command | @stdio.args]},
            {"codex", @http, ["my server", "--url", @http.url]}
          ] do
        client = client(id)
        program = "/bin/" <> client.command

        assert Install.install(client, server, options) ==
                 {:done, "installed my server in #{client.name}, with #{program} mcp add"}

        assert_received {^program, ["mcp", "add" | ^arguments]}
      end

      assert {:paste, _reason, _path, _block} = Install.install(client("codex"), headers, options)
      assert {:done, "added my server to " <> _path} = Install.install(client("gemini"), @http, options)
      refute_received {_program, _arguments}

      failing = %{options | run: fn _program, _arguments -> {"it exists\n", 1} end}

      assert Install.install(client("codex"), @stdio, failing) ==
               {:error, "/bin/codex mcp add ended with status 1: it exists"}
    end
  end

  describe "JsonText" do
    test "whatever the form of a text, the others stay and it means what it should" do
      values = [~s({}), ~s({"n": 1}), ~s({"a": "}", "n": {"x": [1, "]"]}, "b": null}), ~s({ "b" : [ ] })]

      for value <- values,
          form <- [~s({"k":VALUE}), ~s({ "z": [{}], "k" : VALUE , "y": -1.5e3 }), ~s({\r\n\t"k": VALUE\r\n})] do
        text = String.replace(form, "VALUE", value)
        {:ok, put} = JsonText.put(text, "k", "n", fn _unit, _indentation -> ~s({"new":true}) end)
        old = McpServer.JSON.decode!(text)
        assert McpServer.JSON.decode!(put) == put_in(old, ["k", "n"], %{"new" => true})
        deleted = JsonText.delete(text, "k", "n")
        assert McpServer.JSON.decode!(deleted) == update_in(old, ["k"], &Map.delete(&1, "n"))
        unless is_map_key(old["k"], "n"), do: assert(deleted == text)
      end
    end
  end

  describe "the command" do
    test "has absolute paths, a PATH, and whatever is in the project's path", _context do
      find = fn name -> if name == "cargo", do: nil, else: "/opt/#{name}'s bin/#{name}" end
      options = [find: find, home: "/home/me", mix_env: "dev"]

      assert {:ok, %{command: "/bin/sh", args: ["-c", script]}} =
               Launch.mix(["mcp.stdio", "A.MCP"], "/p/$HOME `x`", options)

      assert script ==
               "[ -n \"$HOME\" ] || export HOME=/home/me; cd '/p/$HOME `x`' && " <>
                 "PATH='/opt/mix'\\''s bin:/opt/elixir'\\''s bin:/opt/erl'\\''s bin:/opt/rustc'\\''s bin:/usr/local/bin:/usr/bin:/bin'" <>
                 "\"${PATH:+:$PATH}\" MIX_ENV=dev exec '/opt/mix'\\''s bin/mix' mcp.stdio A.MCP"

      assert Launch.mix([], "/p", find: fn _name -> nil end) ==
               {:error, "mix is not on PATH: start this task from a shell that finds it"}
    end
  end

  describe "on Windows" do
    @folders %{"mix" => "c:/Program Files/Elixir/bin/mix.bat", "elixir" => "c:/Program Files/Elixir/bin/elixir.bat"}

    defp windows(words, project, more \\ []) do
      find = &Map.get(@folders, &1, if(&1 == "erl", do: "c:/erl/bin/erl.exe"))
      Launch.mix(words, project, [os: :windows, find: find] ++ more)
    end

    test "every JSON file whose place is known: before and after", %{tmp_dir: dir} do
      machine = machine(dir, :windows, %{"APPDATA" => Path.join(dir, "roaming")})
      {:ok, launch} = windows(["mcp.stdio", "My.App"], "c:/Users/Ada B/my app", mix_env: "dev")
      server = Map.put(launch, :name, "my server")
      # A client's own command would be a script of cmd.exe.
      options = options(dir, machine: machine, find: fn _name -> flunk("looked for a command") end)

      installed =
        for %{format: :json, user: %{windows: _paths}} = client <- Table.all() do
          {:ok, path} = Place.file(client, :user, machine)
          File.mkdir_p!(Path.dirname(path))
          File.cp!(Path.join(@golden, "#{client.id}.before"), path)
          assert {:done, _said} = Install.install(client, server, options)
          golden("#{client.id}.windows", File.read!(path))
          assert {:done, _said} = Install.uninstall(client, "my server", options)
          golden("#{client.id}.removed", File.read!(path))
          client.id
        end

      assert installed == ~w(claude-desktop claude-code cursor vscode windsurf gemini copilot opencode cline)
      assert {:paste, _reason, _path, block} = Install.install(client("codex"), server, options)
      golden("codex.windows", block)

      for id <- ["zed", "goose"] do
        client = client(id)

        assert Install.install(client, server, options) ==
                 {:error, "where #{client.name} has its file on this system is unknown: use --config-path"}
      end
    end

    test "words that cmd.exe would change are refused, and not shown" do
      refused =
        {:error,
         "the command has a character that cmd.exe does not pass on, one of & | < > ^ % ! \" ` ; , = in a path or a word"}

      for char <- String.graphemes("&|<>^%!\"`;,=\r\n") do
        assert windows(["mcp.bridge", "http://a/" <> char], "c:/a") == refused
        assert windows(["mcp.stdio", "A"], "c:/a" <> char) == refused
        assert windows(["mcp.stdio", "A"], "c:/a", mix_env: "dev" <> char) == refused
      end
    end

    test "a command of one's own is one argument" do
      assert Launch.shell("C:\\a b\\bin\\mcp.bat", :windows) ==
               %{command: "cmd.exe", args: ["/d", "/s", "/c", "C:\\a b\\bin\\mcp.bat"]}
    end
  end

  describe "links" do
    test "of the clients that have them", _context do
      assert Install.link(client("cursor"), @http) ==
               "cursor://anysphere.cursor-deeplink/mcp/install?name=my%20server&config=" <>
                 URI.encode_www_form(Base.encode64(~s({"url":"http://127.0.0.1:4040/mcp"})))

      assert Install.link(client("goose"), %{name: "n", command: "/bin/a", args: ["-c", "b c"]}) ==
               "goose://extension?cmd=%2Fbin%2Fa&arg=-c&arg=b%20c&id=n&name=n&description=n"

      assert Install.link(client("zed"), @http) == nil
    end
  end
end
