// Runs an official conformance suite, unchanged, against the example server behind tokens: a proxy adds the header.
//
//     protected.mjs <legacy|2025-11-25|2026-07-28>

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { startTold } from "../clients/told.mjs";
import { startProxy } from "./proxy.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

async function run(suite) {
  const server = startTold(["mix", "run", path("protected.exs")], { cwd: path("../../examples/everything") });
  const proxy = await startProxy();
  try {
    const { port, token } = await server.next();
    proxy.add({ prefix: "", port, headers: { authorization: `Bearer ${token}` } });

    // Whoever does not come through the proxy stays outside.
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const { status } = await fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", headers, body: "{}" });
    if (status !== 401) throw new Error(`without a token the server answers ${status}`);

    const judge = spawn(process.execPath, [path("../suites/run.mjs"), suite, `${proxy.url}/mcp`], { stdio: "inherit" });
    const [code, signal] = await once(judge, "close");
    return code ?? signal;
  } finally {
    proxy.close();
    await server.close();
  }
}

const status = await run(process.argv[2]);
process.exit(status === 0 ? 0 : 1);
