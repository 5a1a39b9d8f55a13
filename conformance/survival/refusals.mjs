// Which ids of sessions are refused: all but the one that a node has sealed, for the principal it was sealed for.

const revision = "2025-11-25";
const clientInfo = { name: "survivor", version: "1.0.0" };
const initialize = { method: "initialize", params: { protocolVersion: revision, capabilities: {}, clientInfo } };

async function post(node, message, headers) {
  const answer = await fetch(node.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": revision,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
  });
  await answer.text();
  return answer;
}

export async function refusals(checks, [one, other], foreign) {
  const ada = { authorization: "Bearer ada" };
  const open = async () => (await post(one, initialize, ada)).headers.get("mcp-session-id");
  const ping = async (node, id, headers = ada) =>
    (await post(node, { method: "ping" }, { ...headers, "mcp-session-id": id })).status;

  const id = await open();
  checks.true("an id has at most 512 bytes of visible ASCII", /^[!-~]{1,512}$/.test(id));
  checks.equal("its own node", await ping(one, id), 200);
  checks.equal("another node", await ping(other, id), 200);
  checks.equal("a foreign secret", await ping(foreign, id), 404);
  checks.equal("another principal", await ping(other, id, { authorization: "Bearer bob" }), 404);
  checks.equal("nobody", await ping(other, id, {}), 404);

  const changed = [];
  for (let place = 0; place < id.length; place++) {
    const byte = id[place] === "A" ? "B" : "A";
    changed.push(await ping(other, id.slice(0, place) + byte + id.slice(place + 1)));
  }
  checks.equal("each byte changed", [...new Set(changed)], [404]);

  const ended = await open();
  const headers = { ...ada, "mcp-session-id": ended, "mcp-protocol-version": revision };
  checks.equal("its end", (await fetch(other.url, { method: "DELETE", headers })).status, 204);
  checks.equal("a deleted id", await ping(other, ended), 404);
}
