// What a host serves: its own page, and on another origin the sandbox, with the policy as a header. A third origin
// stands for a service on the Internet.

import { readFile } from "node:fs/promises";
import { createServer, request } from "node:http";

import { build } from "esbuild";

const source = (name) => new URL(`host/${name}`, import.meta.url);
const html = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" };

async function listen(handler) {
  const server = createServer(handler);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { origin: `http://127.0.0.1:${server.address().port}`, close };
}

// The host's page, its script, and the way to the MCP server, which lets pages of other sites in only where told to.
export async function serveHost(mcp) {
  const { outputFiles } = await build({
    entryPoints: [source("host.mjs").pathname],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
  });
  const [page, script] = [await readFile(source("host.html")), outputFiles[0].contents];
  return listen((incoming, outgoing) => {
    const { pathname } = new URL(incoming.url, "http://host");
    if (pathname === "/") return outgoing.writeHead(200, html).end(page);
    if (pathname === "/host.js") return outgoing.writeHead(200, { "content-type": "text/javascript" }).end(script);
    if (pathname === "/mcp") return forward(incoming, outgoing, mcp);
    outgoing.writeHead(404).end();
  });
}

function forward(incoming, outgoing, url) {
  const headers = { ...incoming.headers, host: new URL(url).host };
  const upstream = request(url, { method: incoming.method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
  });
  upstream.on("error", () => outgoing.destroy());
  // A stream that nobody listens to any more is not kept open.
  outgoing.on("close", () => upstream.destroy());
  incoming.pipe(upstream);
}

// The sandbox under each of these policies: `/0`, `/1` …
export async function serveSandbox(policies) {
  const page = await readFile(source("sandbox.html"));
  return listen((incoming, outgoing) => {
    const policy = policies[Number(incoming.url.slice(1))];
    if (policy === undefined) return outgoing.writeHead(404).end();
    outgoing.writeHead(200, { ...html, "content-security-policy": policy }).end(page);
  });
}

// A service that would answer everybody, and what was asked of it.
export async function serveService() {
  const asked = [];
  const service = await listen((incoming, outgoing) => {
    asked.push(incoming.url);
    outgoing.writeHead(200, { "access-control-allow-origin": "*" }).end("answered");
  });
  return { ...service, asked };
}
