"""The official Python client, told by its stdin what to do; it answers each line with one line of JSON.

    client.py <legacy|modern> <url>
"""

import asyncio
import json
import sys
import time
import warnings

import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPDeprecationWarning

IN_FLIGHT = 8
# Ends a hang, and decides nothing else.
FUSE_SECONDS = 30


class Survivor:
    def __init__(self):
        self.changed = 0
        self.session = None

    async def notice(self, message):
        if getattr(message, "method", None) == "notifications/tools/list_changed":
            self.changed += 1

    async def elicit(self, _context, _params):
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async def calls(self, count: str) -> dict:
        cities = [f"City {n}" for n in range(int(count))]
        failures = []

        async def work():
            while cities:
                city = cities.pop()
                try:
                    result = await self.session.call_tool("test_structured_content", {"city": city})
                    if (result.structured_content or {}).get("city") != city:
                        failures.append(f"{city}: {result.structured_content}")
                except Exception as error:
                    failures.append(f"{city}: {error!r}")

        await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
        return {"calls": int(count), "failures": failures}

    async def changes(self) -> dict:
        """The node that has the session's stream is one of several: it takes some calls to meet it."""
        self.changed = 0
        end = time.monotonic() + FUSE_SECONDS
        while not self.changed and time.monotonic() < end:
            await self.session.call_tool("test_trigger_tool_change", {})
            await asyncio.sleep(0.2)
        return {"heard": self.changed > 0}

    async def question(self) -> dict:
        result = await self.session.call_tool("test_input_required_result_elicitation", {})
        return {"text": result.content[0].text}


def say(answer: dict) -> None:
    print(json.dumps(answer), flush=True)


async def main(era: str, url: str) -> None:
    survivor = Survivor()
    async with Client(
        url,
        mode="legacy" if era == "legacy" else "auto",
        client_info=types.Implementation(name="survivor", version="1.0.0"),
        elicitation_callback=survivor.elicit,
        message_handler=survivor.notice,
        read_timeout_seconds=30,
    ) as session:
        survivor.session = session
        say({"version": session.protocol_version})
        while line := await asyncio.to_thread(sys.stdin.readline):
            command, *given = line.split()
            say(await getattr(survivor, command)(*given))


if __name__ == "__main__":
    # The session era is tested on purpose.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    asyncio.run(main(*sys.argv[1:]))
