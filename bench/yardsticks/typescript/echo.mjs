// What the benchmark's servers on the TypeScript SDK do.

import { Server } from "@modelcontextprotocol/server";

// The low-level class, so that a hundred tools need not be registered each time.
export function echoServer(tools) {
  const capabilities = { tools: { listChanged: true } };
  const server = new Server({ name: "bench", version: "1.0.0" }, { capabilities });
  server.setRequestHandler("tools/list", () => ({ tools }));
  server.setRequestHandler("tools/call", ({ params }) => ({
    content: [{ type: "text", text: params.arguments.text }],
  }));
  return server;
}
