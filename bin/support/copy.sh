# Sourced by the commands that test the project in a copy of it.

# copy_project FOLDER: copies only the sources.
copy_project() {
  mkdir -p "$1"
  tar --exclude=./_build --exclude='./examples/*/_build' --exclude=./.git --exclude=node_modules --exclude=.venv \
    --exclude=./target --exclude=./tmp -cf - . | tar -xf - -C "$1"
  # The weather example builds its view with Node.js from packages that bin/setup installed.
  [ ! -d examples/weather/view/node_modules ] ||
    cp -rL examples/weather/view/node_modules "$1/examples/weather/view/"
}

# stand_in_for_cargo FOLDER LIBRARY: writes a cargo and a rustc that print the library's path and its compiler.
stand_in_for_cargo() {
  mkdir -p "$1"
  cat >"$1/cargo" <<SCRIPT
#!/bin/sh
echo '{"reason":"compiler-artifact","target":{"name":"mcp_nif"},"filenames":["$2"]}'
SCRIPT
  printf '#!/bin/sh\ncat <<END\n%s\nEND\n' "$(rustc -vV)" >"$1/rustc"
  chmod +x "$1/cargo" "$1/rustc"
}
