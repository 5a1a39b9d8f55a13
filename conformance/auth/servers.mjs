// Servers that ask for tokens, all on the one host of a proxy.

import { fileURLToPath } from "node:url";

import { startTold } from "../clients/told.mjs";
import { until } from "../clients/until.mjs";
import { startProxy } from "./proxy.mjs";

// A server lets a request wait two seconds for the issuer's keys. All issuers are in one process, and on a busy machine
// that takes longer: who is answered with 503 asks again.
export const withKeys = (ask) => until(ask, ({ status, failed }) => status !== 503 && !failed?.startsWith("503"));

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

export async function startServers() {
  const proxy = await startProxy();
  const server = startTold(["mix", "run", "--no-compile", path("server.exs")], { cwd: path("../..") });

  // The proxy passes the path of a request on, or takes the prefix away.
  const serve = async (resource, issuer, { strip, origins = [], auth = {} }) => {
    const prefix = new URL(resource).pathname.slice(0, -"/mcp".length);
    const served = { path: strip ? "/mcp" : `${prefix}/mcp`, allowed_origins: origins, auth: { resource, issuer, ...auth } };
    const { port } = await server.ask(JSON.stringify(served));
    proxy.add({ prefix, port, strip });
  };
  const close = async () => {
    await server.close();
    proxy.close();
  };
  return { resource: (name) => `${proxy.url}/${name}/mcp`, serve, close };
}
