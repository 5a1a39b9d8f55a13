// A proxy that sends every request to the next node, whatever session it belongs to, and notes what went through.

import { createServer, request as send } from "node:http";
import { once } from "node:events";

export async function startProxy(nodes) {
  const seen = { sessions: new Set(), statuses: {}, nodes: {} };
  let turn = 0;

  const server = createServer((incoming, outgoing) => {
    turn = (turn + 1) % nodes.length;
    const { port } = nodes[turn];
    const { method, url, headers } = incoming;
    // The node is addressed as the client addresses the proxy: by loopback.
    const upstream = send({ host: "127.0.0.1", port, method, path: url, headers, agent: false }, (answer) => {
      note(seen, port, method, headers["mcp-session-id"] ?? answer.headers["mcp-session-id"], answer.statusCode);
      outgoing.writeHead(answer.statusCode, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      answer.on("error", () => outgoing.destroy());
    });
    upstream.on("error", () => {
      note(seen, port, method, headers["mcp-session-id"], "lost");
      outgoing.destroy();
    });
    outgoing.on("close", () => upstream.destroy());
    incoming.pipe(upstream);
  });

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, take: () => take(seen), close };
}

function note(seen, port, method, session, status) {
  if (session) seen.sessions.add(session);
  seen.nodes[port] = (seen.nodes[port] ?? 0) + 1;
  const kind = `${method} ${status}`;
  seen.statuses[kind] = (seen.statuses[kind] ?? 0) + 1;
}

// What went through since the last time.
function take(seen) {
  const taken = { sessions: [...seen.sessions], statuses: seen.statuses, nodes: seen.nodes };
  Object.assign(seen, { sessions: new Set(), statuses: {}, nodes: {} });
  return taken;
}
