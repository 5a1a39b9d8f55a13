// A page with the official client, on another origin than the server. The check calls the functions of `window.page`.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

// Connects, lists and calls; what goes wrong is told by its message.
async function use(url, era, token) {
  const client = new Client({ name: "page", version: "1.0.0" }, {
    versionNegotiation: { mode: era === "legacy" ? "legacy" : "auto" },
  });
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    const { tools } = await client.listTools();
    const { content } = await client.callTool({ name: "echo", arguments: { text: "from a page" } });
    const protocol = client.getNegotiatedProtocolVersion();
    await client.close();
    return { protocol, tools: tools.map(({ name }) => name), text: content[0].text };
  } catch (error) {
    return { failed: error.constructor.name };
  }
}

// What a page reads of a plain request.
async function read(url, init = {}) {
  try {
    const response = await fetch(url, init);
    const names = ["www-authenticate", "mcp-session-id"];
    const headers = Object.fromEntries(names.map((name) => [name, response.headers.get(name) !== null]));
    return { status: response.status, headers, challenge: response.headers.get("www-authenticate") };
  } catch (error) {
    return { failed: error.constructor.name };
  }
}

window.page = { use, read };
