"""A server as `mix mcp.install` has written it into a client's file, started from there by the official Python client.

    env -i python installed.py <file> <name>

The file is one of Claude Desktop's form. The environment is to be empty, but for cargo's settings, which decide whether the
native library that is there is the right one: a client that was not started from a shell has little more.
"""

import asyncio
import json
import os
import pathlib
import sys

from checks import Checks
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(file: str, name: str) -> int:
    checks = Checks("installed")
    cargo = {key: value for key, value in os.environ.items() if key.startswith("CARGO_")}
    given = {key for key in os.environ if key not in ("LC_CTYPE", "PWD", "SHLVL", "_", *cargo)}
    checks.equal("the environment is empty", sorted(given), [])
    entry = json.loads(pathlib.Path(file).read_text())["mcpServers"][name]
    server = StdioServerParameters(command=entry["command"], args=entry["args"], env=cargo, cwd="/")
    async with Client(stdio_client(server)) as client:
        tools = await client.list_tools()
        checks.equal("lists the tools", "greet" in [tool.name for tool in tools.tools], True)
        result = await client.call_tool("test_simple_text", {})
        checks.equal("calls a tool", [content.type for content in result.content], ["text"])
    return checks.finish()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:3])))
