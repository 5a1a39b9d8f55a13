"""The official Python client, told by its stdin what to do; it answers each line with one line of JSON.

    client.py <legacy|modern> <url> [client_id client_secret issuer]

With the credentials of a machine it asks nobody; without, it registers itself and logs in.
"""

import asyncio
import json
import logging
import sys
import warnings
from contextlib import AsyncExitStack
from urllib.parse import parse_qs, urlparse

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from mcp.shared.exceptions import MCPDeprecationWarning

CALLBACK = "http://127.0.0.1/callback"


class Storage:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Guest:
    def __init__(self, era, url, client_id=None, client_secret=None, issuer=None):
        self.era, self.url = era, url
        self.storage = Storage()
        self.stack = self.client = self.callback = self.refused = None
        if client_id:
            self.auth = ClientCredentialsOAuthProvider(url, self.storage, client_id, client_secret, issuer=issuer)
        else:
            metadata = OAuthClientMetadata(
                client_name="guest", redirect_uris=[CALLBACK], token_endpoint_auth_method="none"
            )
            self.auth = OAuthClientProvider(url, metadata, self.storage, self.log_in, self.came_back)

    async def log_in(self, url):
        """A browser without a window: it follows redirects with its cookies until they lead back to the client."""
        async with httpx2.AsyncClient() as browser:
            while not url.startswith(CALLBACK):
                response = await browser.get(url)
                url = str(response.url.join(response.headers["location"]))
        self.callback = {name: values[0] for name, values in parse_qs(urlparse(url).query).items()}

    async def came_back(self):
        given = self.callback
        return AuthorizationCodeResult(code=given["code"], state=given["state"], iss=given.get("iss"))

    async def note(self, response):
        """The client does not say with which status it was refused."""
        if response.is_error:
            self.refused = response.status_code

    async def connect(self):
        await self.close()
        self.stack = AsyncExitStack()
        hooks = {"response": [self.note]}
        http = await self.stack.enter_async_context(httpx2.AsyncClient(auth=self.auth, timeout=30, event_hooks=hooks))
        client = Client(
            streamable_http_client(self.url, http_client=http),
            mode="legacy" if self.era == "legacy" else "auto",
            client_info=types.Implementation(name="guest", version="1.0.0"),
            read_timeout_seconds=30,
        )
        self.client = await self.stack.enter_async_context(client)
        return {"version": self.client.protocol_version}

    async def close(self):
        if self.stack:
            stack, self.stack = self.stack, None
            await stack.aclose()

    async def call(self, name):
        result = await self.client.call_tool(name, {})
        if result.is_error:
            raise RuntimeError(result.content[0].text)
        return result.structured_content or {"text": result.content[0].text}

    async def token(self):
        return {"token": self.storage.tokens.access_token}

    async def load(self):
        """Calls go on until `stop`, eight at a time."""
        self.going, self.calls, self.failures = True, 0, []

        async def work():
            while self.going:
                self.calls += 1
                try:
                    await self.call("whoami")
                except Exception as error:
                    self.failures.append(repr(error))

        self.work = asyncio.gather(*(work() for _ in range(8)))
        return {"going": True}

    async def stop(self):
        self.going = False
        await self.work
        return {"calls": self.calls, "failures": self.failures}


async def main(*given):
    guest = Guest(*given)
    while line := await asyncio.to_thread(sys.stdin.readline):
        command, *arguments = line.split()
        try:
            answer = await getattr(guest, command)(*arguments)
        except Exception as error:
            answer = {"failed": f"{guest.refused}: {error!r}"}
        print(json.dumps(answer), flush=True)
    await guest.close()


if __name__ == "__main__":
    # The session era is tested on purpose, and what fails on purpose is told by the answers.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    logging.disable(logging.CRITICAL)
    asyncio.run(main(*sys.argv[1:]))
