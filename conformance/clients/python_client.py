"""The example server, met by the official Python client: over Streamable HTTP, or over stdio.

    python_client.py <legacy|modern> <url>
    python_client.py <legacy|modern> <command> [argument ...]

`legacy` shakes hands with `initialize` (the session era), `modern` with `server/discover` (2026-07-28).
Expected values stand in ../expected/everything.json; the TypeScript client reads the same file.
"""

import asyncio
import json
import pathlib
import sys
import time
import warnings

import mcp_types as types
from checks import Checks
from mcp import Client, MCPError, StdioServerParameters
from mcp.shared.exceptions import MCPDeprecationWarning

EXPECTED = json.loads((pathlib.Path(__file__).parent.parent / "expected" / "everything.json").read_text())
REVISIONS = {"legacy": "2025-11-25", "modern": "2026-07-28"}


def wire(model) -> dict:
    """What came over the wire, without what differs between the eras and is checked elsewhere."""
    data = model.model_dump(by_alias=True, mode="json", exclude_none=True)
    for key in ("_meta", "resultType", "ttlMs", "cacheScope"):
        data.pop(key, None)
    return data


class User:
    """Stands in for the person and the model behind the client: answers by the table, and notes what it was asked."""

    def __init__(self):
        self.asked = []
        self.notifications = []
        self.logs = []
        self.stray = []

    async def elicit(self, _context, params):
        asked = wire(params)
        # "form" is what a request without a mode means, and the client fills it in.
        asked.pop("mode", None)
        self.asked.append({"method": "elicitation/create", "params": asked})
        content = EXPECTED["answers"]["elicitation/create"][params.message]
        return types.ElicitResult(action="accept", content=content)

    async def sample(self, _context, params):
        self.asked.append({"method": "sampling/createMessage", "params": wire(params)})
        return types.CreateMessageResult.model_validate(EXPECTED["answers"]["sampling/createMessage"])

    async def list_roots(self, _context):
        self.asked.append({"method": "roots/list"})
        return types.ListRootsResult.model_validate(EXPECTED["answers"]["roots/list"])

    async def log(self, params):
        self.logs.append(wire(params))

    async def notice(self, message):
        if isinstance(message, Exception):
            self.stray.append(repr(message))
        else:
            self.notifications.append(message.method)

    def take_asked(self) -> list:
        """What was asked since the last time, in an order that does not depend on the client's concurrency."""
        asked, self.asked = sorted(self.asked, key=lambda request: request["method"]), []
        return asked


def is_url(target: list[str]) -> bool:
    return target[0].startswith(("http:", "https:"))


def client(user: User, era: str, target: list[str], log_level=None) -> Client:
    return Client(
        target[0] if is_url(target) else StdioServerParameters(command=target[0], args=target[1:]),
        mode="legacy" if era == "legacy" else "auto",
        client_info=types.Implementation(name="conformance", version="1.0.0"),
        elicitation_callback=user.elicit,
        sampling_callback=user.sample,
        list_roots_callback=user.list_roots,
        logging_callback=user.log,
        message_handler=user.notice,
        log_level=log_level if era == "modern" else None,
        read_timeout_seconds=30,
    )


async def greeting(checks, era, session) -> None:
    checks.equal("protocol version", session.protocol_version, REVISIONS[era])
    checks.equal("server info", wire(session.server_info), EXPECTED["serverInfo"])
    checks.equal("capabilities", wire(session.server_capabilities), EXPECTED["capabilities"][era])
    checks.equal("instructions", session.instructions, EXPECTED["instructions"])


async def lists(checks, era, session) -> None:
    tools = wire(await session.list_tools())["tools"]
    checks.equal("tools", [tool["name"] for tool in tools], EXPECTED["tools"])
    for tool in EXPECTED["toolDetails"]:
        checks.equal(f"tool {tool['name']}", next((t for t in tools if t["name"] == tool["name"]), None), tool)
    checks.equal("resources", wire(await session.list_resources())["resources"], EXPECTED["resources"])
    templates = wire(await session.list_resource_templates())["resourceTemplates"]
    checks.equal("resource templates", templates, EXPECTED["resourceTemplates"])
    checks.equal("prompts", wire(await session.list_prompts())["prompts"], EXPECTED["prompts"])


async def calls(checks, era, session) -> None:
    for call in EXPECTED["calls"]:
        result = wire(await session.call_tool(call["name"], call["arguments"]))
        checks.equal(f"call {call['name']}", result, call["result"])


async def round_trips(checks, era, session, user) -> None:
    for call in EXPECTED["roundTrips"]:
        user.take_asked()
        result = wire(await session.call_tool(call["name"], call["arguments"]))
        checks.equal(f"requests of {call['name']}", user.take_asked(), call["requests"])
        checks.equal(f"result of {call['name']}", result, call["result"])


async def reads(checks, era, session) -> None:
    for read in EXPECTED["reads"]:
        result = wire(await session.read_resource(read["uri"]))
        checks.equal(f"read {read['uri']}", result, read["result"])


async def prompts(checks, era, session, user) -> None:
    for get in EXPECTED["gets"]:
        result = wire(await session.get_prompt(get["name"], get["arguments"]))
        checks.equal(f"get {get['name']}", result, get["result"])
    user.take_asked()


async def completions(checks, era, session) -> None:
    for complete in EXPECTED["completions"]:
        reference = complete["ref"]
        kind = types.PromptReference if reference["type"] == "ref/prompt" else types.ResourceTemplateReference
        result = wire(await session.complete(kind(**reference), complete["argument"]))
        checks.equal(f"complete {complete['argument']}", result, complete["result"])


async def refusals(checks, era, session) -> None:
    for refusal in EXPECTED["refusals"]:
        method, arguments = refusal["method"], refusal["arguments"]
        try:
            got = {"result": wire(await getattr(session, method)(**arguments))}
        except MCPError as error:
            got = {"code": error.code, "data": error.data}
        checks.equal(f"{method} {arguments}", got, refusal[era])


async def progress(checks, era, session) -> None:
    seen = []

    async def note(progress, total, message):
        # The client makes floats of all numbers.
        seen.append([int(progress), int(total), message])

    result = wire(await session.call_tool("test_tool_with_progress", {}, progress_callback=note))
    checks.equal("progress", seen, EXPECTED["progress"]["steps"])
    checks.equal("result with progress", result, EXPECTED["progress"]["result"])


async def logging(checks, era, session, user) -> None:
    if era == "legacy":
        await session.set_logging_level("debug")
    user.logs.clear()
    result = wire(await session.call_tool("test_tool_with_logging", {}))
    checks.equal("log messages", user.logs, EXPECTED["logging"]["messages"])
    checks.equal("result with logging", result, EXPECTED["logging"]["result"])


async def silence(checks, era, target) -> None:
    """Without a level in the request nothing is logged to a modern client."""
    user = User()
    async with client(user, era, target) as session:
        await session.call_tool("test_logging_tool", {})
        await asyncio.sleep(0.2)
    checks.equal("log messages without a level", user.logs, [])


async def changes(checks, era, session, user) -> None:
    if era == "legacy":
        await changes_in_a_session(checks, session, user)
    else:
        await changes_on_streams(checks, session)


async def changes_in_a_session(checks, session, user) -> None:
    uri = EXPECTED["watched"]["uri"]
    user.notifications.clear()
    checks.equal("subscribe", wire(await session.subscribe_resource(uri)), {})
    for change in EXPECTED["changes"]:
        await session.call_tool(change["tool"], {})
    await session.call_tool(EXPECTED["watched"]["tool"], {})
    await asyncio.sleep(0.5)
    want = [change["notification"] for change in EXPECTED["changes"]] + ["notifications/resources/updated"]
    checks.equal("change notifications", user.notifications, want)

    user.notifications.clear()
    checks.equal("unsubscribe", wire(await session.unsubscribe_resource(uri)), {})
    await session.call_tool(EXPECTED["watched"]["tool"], {})
    await asyncio.sleep(0.5)
    checks.equal("notifications after unsubscribing", user.notifications, [])
    checks.equal("ping", wire(await session.send_ping()), {})


async def changes_on_streams(checks, session) -> None:
    uri = EXPECTED["watched"]["uri"]
    async with (
        session.listen(tools_list_changed=True) as tools,
        session.listen(prompts_list_changed=True, resource_subscriptions=[uri]) as others,
    ):
        checks.equal("honoured for tools", wire(tools.honored), {"toolsListChanged": True})
        want = {"promptsListChanged": True, "resourceSubscriptions": [uri]}
        checks.equal("honoured for the others", wire(others.honored), want)
        for change in EXPECTED["changes"]:
            await session.call_tool(change["tool"], {})
        await session.call_tool(EXPECTED["watched"]["tool"], {})
        checks.equal("events for tools", await events(tools), ["ToolsListChanged()"])
        want = ["PromptsListChanged()", f"ResourceUpdated(uri='{uri}')"]
        checks.equal("events for the others", await events(others), want)


async def events(subscription) -> list[str]:
    """The events that have come; half a second without one ends the wait."""
    seen = []
    while True:
        try:
            seen.append(repr(await asyncio.wait_for(anext(subscription), 0.5)))
        except TimeoutError:
            return seen


async def main(era: str, target: list[str]) -> int:
    checks = Checks(f"python {era} over {'HTTP' if is_url(target) else 'stdio'}")
    user = User()
    async with client(user, era, target, log_level="debug") as session:
        await greeting(checks, era, session)
        await lists(checks, era, session)
        await calls(checks, era, session)
        await round_trips(checks, era, session, user)
        await reads(checks, era, session)
        await prompts(checks, era, session, user)
        await completions(checks, era, session)
        await refusals(checks, era, session)
        await progress(checks, era, session)
        await logging(checks, era, session, user)
        await changes(checks, era, session, user)
        closing = time.monotonic()
    if not is_url(target):
        # The client closes the server's stdin, waits two seconds and then kills.
        checks.true("the server ends by itself at the end of its input", time.monotonic() - closing < 1.9)
    checks.equal("what is no message", user.stray, [])
    if era == "modern":
        await silence(checks, era, target)
    return checks.finish()


if __name__ == "__main__":
    # Both eras are tested on purpose, so what the newer one has dropped is no news here.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2:])))
