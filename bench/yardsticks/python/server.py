"""The benchmark's server on the Python SDK: stateless, answers in JSON, uvicorn with uvloop and httptools.

`python server.py TOOLS` prints its port and its process id, and ends at the end of its stdin.
"""

import json
import os
import socket
import sys
import threading

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool


def new_server(path):
    with open(path, encoding="utf-8") as file:
        tools = [Tool.model_validate(tool) for tool in json.load(file)]

    async def list_tools(_context, _params):
        return ListToolsResult(tools=tools)

    async def call_tool(_context, params):
        return CallToolResult(content=[TextContent(type="text", text=params.arguments["text"])])

    # Without it the SDK lists all tools at each call, to see whether one wants a parameter in a header.
    schemas = {tool.name: tool.input_schema for tool in tools}

    return Server(
        "bench",
        version="1.0.0",
        get_tool_input_schema=schemas.get,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_subscriptions_listen=ListenHandler(InMemorySubscriptionBus(), max_subscriptions=100_000),
    )


def end_with_stdin():
    """Whoever started the server holds the other end of its stdin, and lets go of it at the latest by ending."""
    sys.stdin.buffer.read()
    os._exit(0)


def main():
    app = new_server(sys.argv[1]).streamable_http_app(stateless_http=True, json_response=True)
    config = uvicorn.Config(app, log_level="error", access_log=False, loop="uvloop", http="httptools", backlog=4096)

    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
    threading.Thread(target=end_with_stdin, daemon=True).start()
    print(listener.getsockname()[1], os.getpid(), flush=True)
    uvicorn.Server(config).run(sockets=[listener])


main()
