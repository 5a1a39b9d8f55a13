"""The example server, met by the official Python client: over Streamable HTTP, or over stdio.

    python_client.py <legacy|modern> <url>
    python_client.py <legacy|modern> <command> [argument ...]

`legacy` shakes hands with `initialize` (the session era), `modern` with `server/discover` (2026-07-28).
Expected values stand in ../expected/everything.json; the TypeScript client reads the same file.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import warnings

import mcp_types as types
from checks import Checks
from mcp import Client, MCPError, StdioServerParameters
from mcp.shared.exceptions import MCPDeprecationWarning

EXPECTED = json.loads((pathlib.Path(__file__).parent.parent / "expected" / "everything.json").read_text())
REVISIONS = {"legacy": "2025-11-25", "modern": "2026-07-28"}
APART = pathlib.Path(__file__).parent / "apart"
LEVEL = "io.modelcontextprotocol/logLevel"
# Ends a hang, and decides nothing else.
FUSE_SECONDS = 30


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


async def until(condition) -> None:
    """Waits for the condition. If it stays false, the comparison that follows fails."""
    end = time.monotonic() + FUSE_SECONDS
    while not condition() and time.monotonic() < end:
        await asyncio.sleep(0.01)


async def arrival(items: list, count: int) -> None:
    await until(lambda: len(items) >= count)


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
    await arrival(seen, len(EXPECTED["progress"]["steps"]))
    checks.equal("progress", seen, EXPECTED["progress"]["steps"])
    checks.equal("result with progress", result, EXPECTED["progress"]["result"])


async def logging(checks, era, session, user) -> None:
    if era == "legacy":
        await session.set_logging_level("debug")
    user.logs.clear()
    result = wire(await session.call_tool("test_tool_with_logging", {}))
    await arrival(user.logs, len(EXPECTED["logging"]["messages"]))
    checks.equal("log messages", user.logs, EXPECTED["logging"]["messages"])
    checks.equal("result with logging", result, EXPECTED["logging"]["result"])


async def silence(checks, era, target) -> None:
    """Without a level in the request nothing is logged to a modern client."""
    user = User()
    async with client(user, era, target) as session:
        await session.call_tool("test_logging_tool", {})
        # What this call logs would come after what the other has logged.
        await session.call_tool("test_tool_with_logging", {}, meta={LEVEL: "debug"})
        await arrival(user.logs, len(EXPECTED["logging"]["messages"]))
    checks.equal("log messages without a level", user.logs, EXPECTED["logging"]["messages"])


async def changes(checks, era, session, user) -> None:
    if era == "legacy":
        await changes_in_a_session(checks, session, user)
    else:
        await changes_on_streams(checks, session)


async def changes_in_a_session(checks, session, user) -> None:
    watched = EXPECTED["watched"]
    user.notifications.clear()
    checks.equal("subscribe", wire(await session.subscribe_resource(watched["uri"])), {})
    await announce(session, [*EXPECTED["changes"], watched], user.notifications)
    want = [change["notification"] for change in [*EXPECTED["changes"], watched]]
    checks.equal("change notifications", user.notifications, want)

    user.notifications.clear()
    checks.equal("unsubscribe", wire(await session.unsubscribe_resource(watched["uri"])), {})
    await session.call_tool(watched["tool"], {})
    # The later changes are told, and nothing before them.
    await announce(session, EXPECTED["changes"], user.notifications)
    want = [change["notification"] for change in EXPECTED["changes"]]
    checks.equal("notifications after unsubscribing", user.notifications, want)
    checks.equal("ping", wire(await session.send_ping()), {})


async def announce(session, announced, seen) -> None:
    """Makes one change after the other. The server may merge changes until they are read, so each is waited for."""
    for change in announced:
        count = len(seen)
        await session.call_tool(change["tool"], {})
        await arrival(seen, count + 1)


async def changes_on_streams(checks, session) -> None:
    watched = EXPECTED["watched"]
    for_tools, for_others = [], []
    async with (
        session.listen(tools_list_changed=True) as tools,
        session.listen(prompts_list_changed=True, resource_subscriptions=[watched["uri"]]) as others,
    ):
        checks.equal("honoured for tools", wire(tools.honored), {"toolsListChanged": True})
        want = {"promptsListChanged": True, "resourceSubscriptions": [watched["uri"]]}
        checks.equal("honoured for the others", wire(others.honored), want)
        reading = asyncio.gather(note_events(tools, for_tools), note_events(others, for_others))
        tools_change, prompts_change = EXPECTED["changes"]
        # The second half shows that the first has brought nothing more.
        for change in [tools_change, prompts_change, watched, tools_change, watched, prompts_change]:
            await announce(session, [change], for_tools if change is tools_change else for_others)
        checks.equal("events for tools", for_tools, ["ToolsListChanged()"] * 2)
        updated = f"ResourceUpdated(uri='{watched['uri']}')"
        want = ["PromptsListChanged()", updated, updated, "PromptsListChanged()"]
        checks.equal("events for the others", for_others, want)
    await reading


async def note_events(subscription, seen) -> None:
    async for event in subscription:
        seen.append(repr(event))


async def endings(file: pathlib.Path) -> list[str]:
    """The exit status of each server, in the order of their ends; of one that does not end, that it was killed."""

    def notes(word):
        lines = file.read_text().splitlines()
        return [line.split()[1] for line in lines if line.startswith(word)]

    await until(lambda: len(notes("ended")) == len(notes("started")))
    ended = notes("ended")
    if len(ended) < len(notes("started")):
        for group in notes("started"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(int(group), signal.SIGKILL)
                ended.append("killed")
    return ended


async def main(era: str, target: list[str]) -> int:
    checks = Checks(f"python {era} over {'HTTP' if is_url(target) else 'stdio'}")
    user = User()
    with tempfile.TemporaryDirectory() as folder:
        notes = pathlib.Path(folder) / "notes"
        served = target if is_url(target) else [str(APART), str(notes), *target]
        async with client(user, era, served, log_level="debug") as session:
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
        if not is_url(target):
            checks.equal("the server ends by itself at the end of its input", await endings(notes), ["0"])
    checks.equal("what is no message", user.stray, [])
    if era == "modern":
        await silence(checks, era, target)
    return checks.finish()


if __name__ == "__main__":
    # Both eras are tested on purpose, so what the newer one has dropped is no news here.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2:])))
