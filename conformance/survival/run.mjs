// The official clients on three nodes that know nothing of each other, behind a proxy that sends every request to the next
// one: while nothing happens, while the nodes are replaced one after the other, and after all of them were killed.
//
//     run.mjs [--long]
//
// The short form makes 300 calls for each client and era, the long one 10,000. No call may fail, and a client of the session
// era keeps its one session throughout.

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { Checks } from "../clients/checks.mjs";
import { startTold } from "../clients/told.mjs";
import { startNode } from "./nodes.mjs";
import { startProxy } from "./proxy.mjs";
import { refusals } from "./refusals.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const total = process.argv.includes("--long") ? 10_000 : 300;
const [third, turn] = [Math.ceil(total / 3), 24];
const secret = randomBytes(32).toString("hex");
const commands = {
  python: [path("../.venv/bin/python"), path("client.py")],
  // The client warns of its own listeners.
  typescript: [process.execPath, "--no-warnings", path("client.mjs")],
};

// As a deploy does: the new node is there before the proxy forgets the old one, which then ends in good order.
async function replaceAll(nodes) {
  for (const place of nodes.keys()) {
    const old = nodes[place];
    nodes[place] = await startNode(secret);
    await old.stop();
  }
}

async function killAll(nodes) {
  await Promise.all(nodes.map((node) => node.kill()));
  const ports = nodes.map(({ port }) => port);
  nodes.splice(0, nodes.length, ...(await Promise.all(ports.map((port) => startNode(secret, port)))));
}

async function survive(name, era, nodes, proxy) {
  const checks = new Checks(`${name} ${era} on three nodes`);
  const legacy = era === "legacy";
  proxy.take();
  const client = startTold([...commands[name], era, proxy.url]);
  checks.equal("revision", (await client.next()).version, legacy ? "2025-11-25" : "2026-07-28");
  const call = async (when, count) => checks.equal(when, (await client.ask(`calls ${count}`)).failures, []);

  await call("calls of a client that moves with every request", third);
  // Calls go on all the while, with a pause in which nodes can start.
  const replaced = replaceAll(nodes).then(() => true);
  do await call("calls while the nodes are replaced", turn);
  while (!(await Promise.race([replaced, sleep(200, false)])));
  await call("calls after the nodes were replaced", third);
  if (legacy) checks.equal("the session's stream came back", await client.ask("changes"), { heard: true });
  else checks.equal("a question", await client.ask("question"), { text: "Hello, Ada!" });
  await killAll(nodes);
  await call("calls after the nodes were killed", third);

  const { sessions, statuses, nodes: used } = proxy.take();
  checks.equal("sessions", sessions.length, legacy ? 1 : 0);
  const made = Object.values(used).reduce((sum, count) => sum + count);
  checks.true(`at least ${total} requests, here ${made}`, made >= total);
  const posts = Object.keys(statuses).filter((status) => status.startsWith("POST")).sort();
  checks.equal("statuses of what was sent", posts, legacy ? ["POST 200", "POST 202"] : ["POST 200"]);
  console.log(`${name} ${era}: ${made} requests, ${JSON.stringify(statuses)}`);
  checks.equal("exit of the client", await client.close(), 0);
  return checks.finish();
}

const nodes = await Promise.all([1, 2, 3].map(() => startNode(secret)));
const foreign = await startNode(randomBytes(32).toString("hex"));
const store = await mkdtemp(join(tmpdir(), "survival-"));
const sharing = await Promise.all([1, 2].map(() => startNode(secret, 0, store)));
const proxy = await startProxy(nodes);
let failed = 0;
try {
  const checks = new Checks("ids of sessions");
  await refusals(checks, nodes, foreign, sharing);
  await Promise.all(sharing.map((node) => node.stop()));
  failed += checks.finish();
  for (const name of ["python", "typescript"])
    for (const era of ["legacy", "modern"]) failed += await survive(name, era, nodes, proxy);
} finally {
  proxy.close();
  await Promise.all([foreign, ...sharing, ...nodes].map((node) => node.stop()));
  await rm(store, { recursive: true });
}
process.exit(failed > 0 ? 1 : 0);
