// The benchmark's server on the TypeScript SDK: stateless, with answers in JSON, on node:http without a framework.
//
// `node server.mjs TOOLS` prints its port and its process id, and ends at the end of its stdin.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";

import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";

import { echoServer } from "./echo.mjs";

const tools = JSON.parse(readFileSync(process.argv[2], "utf8"));

// The SDK requires one per request.
const newServer = () => echoServer(tools);

// It answers in JSON, unless a tool sends messages before its result.
const modern = toNodeHandler(createMcpHandler(newServer, { legacy: "reject", maxSubscriptions: 100_000 }));

// The SDK's default for older clients answers with an event stream, which costs more.
async function legacy(request, response) {
  const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  await newServer().connect(transport);
  await transport.handleRequest(request, response);
}

const validHost = localhostHostValidation();
const validOrigin = localhostOriginValidation();

const http = createServer((request, response) => {
  if (!validHost(request, response) || !validOrigin(request, response)) return;
  const handle = request.headers["mcp-protocol-version"] === "2026-07-28" ? modern : legacy;
  handle(request, response);
});

http.listen(0, "127.0.0.1", 4096, () => console.log(`${http.address().port} ${process.pid}`));
process.stdin.on("end", () => process.exit(0)).resume();
