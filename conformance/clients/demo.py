"""Connects the official Python client to the example server, and prints what it answers.

    demo.py [--lists] <url>
    demo.py [--lists] <command> [argument ...]

With `--lists` it also prints what the server has.
"""

import asyncio
import sys

import mcp_types as types
from mcp import Client, StdioServerParameters

CALLS = [
    ("test_simple_text", {}),
    ("test_structured_content", {"city": "Oslo"}),
    ("test_multiple_content_types", {}),
    ("test_tool_with_progress", {}),
    ("test_input_required_result_elicitation", {}),
]
READS = ["test://static-text", "test://template/123/data"]
PROMPT = ("test_prompt_with_arguments", {"arg1": "hello", "arg2": "world"})


async def answer(_context, params) -> types.ElicitResult:
    print(f"    the server asks: {params.message}")
    print("    the user answers: Ada")
    return types.ElicitResult(action="accept", content={"name": "Ada"})


def block(content) -> str:
    match content.type:
        case "text":
            return content.text
        case "resource":
            return f"[resource {content.resource.uri}] {content.resource.text}"
        case kind:
            return f"[{kind}, {content.mime_type}]"


def heading(text: str) -> None:
    print(f"\n{text}")


async def show_lists(client) -> None:
    heading("Tools")
    for tool in (await client.list_tools()).tools:
        print(f"  {tool.name:45} {tool.description}")
    heading("Prompts")
    for prompt in (await client.list_prompts()).prompts:
        print(f"  {prompt.name:45} {prompt.description}")
    heading("Resources")
    for resource in (await client.list_resources()).resources:
        print(f"  {resource.uri:45} {resource.description}")
    for template in (await client.list_resource_templates()).resource_templates:
        print(f"  {template.uri_template:45} {template.description}")


async def show_calls(client) -> bool:
    heading("Calls")
    succeeded = True
    for name, arguments in CALLS:
        print(f"  {name} {arguments}")

        async def progress(done, total, _message):
            print(f"    progress: {done:g} of {total:g}")

        result = await client.call_tool(name, arguments, progress_callback=progress)
        succeeded = succeeded and not result.is_error
        for content in result.content:
            print(f"    {block(content)}")
    return succeeded


async def show_reads(client) -> None:
    heading("Reads")
    for uri in READS:
        contents = (await client.read_resource(uri)).contents
        print(f"  {uri}\n    {contents[0].text}")
    heading("Prompt")
    name, arguments = PROMPT
    print(f"  {name} {arguments}")
    for message in (await client.get_prompt(name, arguments)).messages:
        print(f"    {message.role}: {block(message.content)}")


async def main(lists: bool, target: list[str]) -> int:
    over_http = target[0].startswith("http:")
    server = target[0] if over_http else StdioServerParameters(command=target[0], args=target[1:])
    async with Client(server, elicitation_callback=answer, read_timeout_seconds=30) as client:
        info = client.server_info
        over = f"Streamable HTTP at {target[0]}" if over_http else "stdio"
        heading(f"Connected to {info.name} {info.version} over {over}, MCP {client.protocol_version}")
        if lists:
            await show_lists(client)
        succeeded = await show_calls(client)
        await show_reads(client)
    print("\nEvery call succeeded." if succeeded else "\nA call failed.")
    return 0 if succeeded else 1


if __name__ == "__main__":
    arguments = sys.argv[1:]
    with_lists = arguments[0] == "--lists"
    sys.exit(asyncio.run(main(with_lists, arguments[1:] if with_lists else arguments)))
