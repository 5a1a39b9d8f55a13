// The benchmark's server over stdio on the TypeScript SDK: `node stdio.mjs TOOLS`. Ends at the end of its stdin.

import { readFileSync } from "node:fs";

import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

import { echoServer } from "./echo.mjs";

const tools = JSON.parse(readFileSync(process.argv[2], "utf8"));
await echoServer(tools).connect(new StdioServerTransport());
