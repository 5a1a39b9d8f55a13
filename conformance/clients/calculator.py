"""The server of the README, started over stdio by the official Python client as an editor would start it.

    calculator.py <legacy|modern> <command> [argument ...]

`legacy` shakes hands with `initialize` (the session era), `modern` with `server/discover` (2026-07-28).
"""

import asyncio
import os
import sys

from checks import Checks
from mcp import Client, StdioServerParameters

REVISIONS = {"legacy": "2025-11-25", "modern": "2026-07-28"}
# A server that compiles first needs its time.
START_SECONDS = 120


async def main(era: str, command: list[str]) -> int:
    checks = Checks(f"calculator {era}")
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    mode = "legacy" if era == "legacy" else "auto"
    async with Client(server, mode=mode, read_timeout_seconds=START_SECONDS) as session:
        checks.equal("protocol version", session.protocol_version, REVISIONS[era])
        checks.equal("server", session.server_info.name, "calculator")
        tools = await session.list_tools()
        checks.equal("tools", [tool.name for tool in tools.tools], ["add"])
        result = await session.call_tool("add", {"a": 2, "b": 40})
        checks.equal("sum", (result.is_error, result.structured_content), (False, {"sum": 42}))
        result = await session.call_tool("add", {"a": "2"})
        checks.equal("arguments that are not valid", result.is_error, True)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2:])))
