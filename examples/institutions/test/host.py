"""A host's MCP half: the official Python client, which calls the tool and reads the link.

    host.py <url> call <tool> <arguments as JSON>
    host.py <url> read <uri>
    host.py <url> templates

Prints what came back, as one JSON object.
"""

import asyncio
import json
import sys

from mcp import Client, MCPError


async def ask(client: Client, what: str, arguments: list[str]):
    match what:
        case "call":
            return await client.call_tool(arguments[0], json.loads(arguments[1]))
        case "read":
            return await client.read_resource(arguments[0])
        case "templates":
            return await client.list_resource_templates()


async def main(url: str, what: str, arguments: list[str]) -> None:
    async with Client(url, read_timeout_seconds=30) as client:
        try:
            answer = await ask(client, what, arguments)
            print(answer.model_dump_json(by_alias=True, exclude_none=True))
        except MCPError as error:
            print(json.dumps({"error": {"code": error.code, "message": error.message}}))


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
