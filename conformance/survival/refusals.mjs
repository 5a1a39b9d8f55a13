// Which ids of sessions are refused: all but the one that a node has sealed, for the principal it was sealed for.

import { until } from "../clients/until.mjs";

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

// `sharing` are nodes with a common store: they are not connected either, but know which sessions have ended.
export async function refusals(checks, [one, other], foreign, sharing) {
  const ada = { authorization: "Bearer ada" };
  const open = async (node = one) => (await post(node, initialize, ada)).headers.get("mcp-session-id");
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

  const end = async (node, id) => {
    const headers = { ...ada, "mcp-session-id": id, "mcp-protocol-version": revision };
    return (await fetch(node.url, { method: "DELETE", headers })).status;
  };

  const ended = await open();
  checks.equal("its end", await end(other, ended), 204);
  checks.equal("a deleted id", await ping(other, ended), 404);

  const everywhere = await open(sharing[0]);
  for (const node of sharing) checks.equal("open on each node", await ping(node, everywhere), 200);
  checks.equal("its end on one of them", await end(sharing[0], everywhere), 204);
  // An open session asks the store at most once in five seconds.
  for (const node of sharing) {
    const status = await until(() => ping(node, everywhere), (status) => status === 404);
    checks.equal("a deleted id on each node with the store", status, 404);
  }
}
