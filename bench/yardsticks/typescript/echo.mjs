// The tools of the benchmark's servers on the TypeScript SDK.

import { Server } from "@modelcontextprotocol/server";

// The low-level class avoids registering a hundred tools for each server.
export function echoServer(tools) {
  const capabilities = { tools: { listChanged: true } };
  const server = new Server({ name: "bench", version: "1.0.0" }, { capabilities });
  server.setRequestHandler("tools/list", () => ({ tools }));
  server.setRequestHandler("tools/call", ({ params }) => ({
    content: [{ type: "text", text: params.arguments.text }],
  }));
  return server;
}
