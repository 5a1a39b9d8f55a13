// The example server, met by the official TypeScript client: over Streamable HTTP, or over stdio.
//
//     typescript_client.mjs <legacy|modern> <url>
//     typescript_client.mjs <legacy|modern> <command> [argument ...]
//
// `legacy` shakes hands with `initialize` (the session era), `modern` with `server/discover` (2026-07-28).
// Expected values stand in ../expected/everything.json; the Python client reads the same file.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { Checks } from "./checks.mjs";
import { arrival, until } from "./until.mjs";

const expected = JSON.parse(readFileSync(new URL("../expected/everything.json", import.meta.url)));
const revisions = { legacy: "2025-11-25", modern: "2026-07-28" };
const levelKey = "io.modelcontextprotocol/logLevel";
const apart = fileURLToPath(new URL("apart", import.meta.url));

// What came over the wire, without what differs between the eras and is checked elsewhere.
function wire(result) {
  const { _meta, resultType, ttlMs, cacheScope, ...rest } = result;
  return rest;
}

// Stands in for the person and the model behind the client: answers by the table, and notes what it was asked.
class User {
  asked = [];
  logs = [];
  notifications = [];
  errors = [];

  attach(client) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      // "form" is what a request without a mode means.
      const { mode, ...asked } = wire(params);
      this.asked.push({ method: "elicitation/create", params: asked });
      return { action: "accept", content: expected.answers["elicitation/create"][params.message] };
    });
    client.setRequestHandler("sampling/createMessage", ({ params }) => {
      this.asked.push({ method: "sampling/createMessage", params: wire(params) });
      return expected.answers["sampling/createMessage"];
    });
    client.setRequestHandler("roots/list", () => {
      this.asked.push({ method: "roots/list" });
      return expected.answers["roots/list"];
    });
    client.setNotificationHandler("notifications/message", ({ params }) => void this.logs.push(wire(params)));
    for (const { notification } of [...expected.changes, expected.watched]) {
      client.setNotificationHandler(notification, () => void this.notifications.push(notification));
    }
    client.onerror = (error) => this.errors.push(String(error));
  }

  // What was asked since the last time, in an order that does not depend on the client's concurrency.
  takeAsked() {
    const asked = this.asked.sort((a, b) => (a.method < b.method ? -1 : 1));
    this.asked = [];
    return asked;
  }
}

const isUrl = (target) => /^https?:/.test(target[0]);

function transport(target) {
  if (isUrl(target)) return new StreamableHTTPClientTransport(new URL(target[0]));
  return new StdioClientTransport({ command: target[0], args: target.slice(1) });
}

// The client drops progress that it reads together with the result, so each message waits for a turn of its own.
function inTurns(transport) {
  let handler;
  let last = Promise.resolve();
  const turn = (...message) => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve))).then(() => handler?.(...message));
  };
  Object.defineProperty(transport, "onmessage", { get: () => handler && turn, set: (given) => void (handler = given) });
  return transport;
}

async function connect(user, era, target) {
  const client = new Client(
    { name: "conformance", version: "1.0.0" },
    {
      capabilities: { elicitation: {}, sampling: {}, roots: { listChanged: true } },
      versionNegotiation: { mode: era === "legacy" ? "legacy" : "auto" },
    },
  );
  user.attach(client);
  await client.connect(inTurns(transport(target)));
  return client;
}

function greeting(checks, era, client) {
  checks.equal("protocol version", client.getNegotiatedProtocolVersion(), revisions[era]);
  checks.equal("server info", client.getServerVersion(), expected.serverInfo);
  checks.equal("capabilities", client.getServerCapabilities(), expected.capabilities[era]);
  checks.equal("instructions", client.getInstructions(), expected.instructions);
}

async function lists(checks, client) {
  const { tools } = await client.listTools();
  checks.equal("tools", tools.map((tool) => tool.name), expected.tools);
  for (const tool of expected.toolDetails) {
    checks.equal(`tool ${tool.name}`, tools.find(({ name }) => name === tool.name), tool);
  }
  checks.equal("resources", (await client.listResources()).resources, expected.resources);
  const { resourceTemplates } = await client.listResourceTemplates();
  checks.equal("resource templates", resourceTemplates, expected.resourceTemplates);
  checks.equal("prompts", (await client.listPrompts()).prompts, expected.prompts);
}

async function calls(checks, client) {
  for (const { name, arguments: given, result } of expected.calls) {
    checks.equal(`call ${name}`, wire(await client.callTool({ name, arguments: given })), result);
  }
}

async function roundTrips(checks, client, user) {
  for (const { name, arguments: given, requests, result } of expected.roundTrips) {
    user.takeAsked();
    const got = wire(await client.callTool({ name, arguments: given }));
    checks.equal(`requests of ${name}`, user.takeAsked(), requests);
    checks.equal(`result of ${name}`, got, result);
  }
}

async function reads(checks, client) {
  for (const { uri, result } of expected.reads) {
    checks.equal(`read ${uri}`, wire(await client.readResource({ uri })), result);
  }
}

async function prompts(checks, client, user) {
  for (const { name, arguments: given, result } of expected.gets) {
    checks.equal(`get ${name}`, wire(await client.getPrompt({ name, arguments: given })), result);
  }
  user.takeAsked();
}

async function completions(checks, client) {
  for (const { ref, argument, result } of expected.completions) {
    checks.equal(`complete ${JSON.stringify(argument)}`, wire(await client.complete({ ref, argument })), result);
  }
}

async function refusals(checks, era, client) {
  const methods = {
    call_tool: ({ name, arguments: given }) => client.callTool({ name, arguments: given }),
    get_prompt: ({ name, arguments: given }) => client.getPrompt({ name, arguments: given }),
    read_resource: ({ uri }) => client.readResource({ uri }),
  };
  for (const refusal of expected.refusals) {
    const answer = await methods[refusal.method](refusal.arguments).then(
      (result) => ({ result: wire(result) }),
      (error) => ({ code: error.code, data: error.data ?? null }),
    );
    // The client reads both codes of a resource that is not there as the newer one.
    const want = refusal[era].code === -32002 ? { ...refusal[era], code: -32602 } : refusal[era];
    checks.equal(`${refusal.method} ${JSON.stringify(refusal.arguments)}`, answer, want);
  }
}

async function progress(checks, client) {
  const seen = [];
  const result = await client.callTool(
    { name: "test_tool_with_progress", arguments: {} },
    { onprogress: ({ progress, total, message }) => seen.push([progress, total, message ?? null]) },
  );
  await arrival(seen, expected.progress.steps.length);
  checks.equal("progress", seen, expected.progress.steps);
  checks.equal("result with progress", wire(result), expected.progress.result);
}

async function logging(checks, era, client, user) {
  const _meta = era === "modern" ? { [levelKey]: "debug" } : undefined;
  if (era === "legacy") await client.setLoggingLevel("debug");
  user.logs = [];
  const result = await client.callTool({ name: "test_tool_with_logging", arguments: {}, _meta });
  await arrival(user.logs, expected.logging.messages.length);
  checks.equal("log messages", user.logs, expected.logging.messages);
  checks.equal("result with logging", wire(result), expected.logging.result);
  if (era === "legacy") return;

  user.logs = [];
  await client.callTool({ name: "test_logging_tool", arguments: {} });
  // What this call logs would come after what the other has logged.
  await client.callTool({ name: "test_tool_with_logging", arguments: {}, _meta });
  await arrival(user.logs, expected.logging.messages.length);
  checks.equal("log messages without a level", user.logs, expected.logging.messages);
}

// Makes one change after the other. The server may merge changes until they are read, so each is waited for.
async function announce(client, changes, seen) {
  for (const { tool } of changes) {
    const count = seen.length;
    await client.callTool({ name: tool, arguments: {} });
    await arrival(seen, count + 1);
  }
}

const names = (changes) => changes.map(({ notification }) => notification);

async function changesInASession(checks, client, user) {
  const { changes, watched } = expected;
  user.notifications = [];
  checks.equal("subscribe", wire(await client.subscribeResource({ uri: watched.uri })), {});
  await announce(client, [...changes, watched], user.notifications);
  checks.equal("change notifications", user.notifications, names([...changes, watched]));

  user.notifications = [];
  checks.equal("unsubscribe", wire(await client.unsubscribeResource({ uri: watched.uri })), {});
  await client.callTool({ name: watched.tool, arguments: {} });
  // The later changes are told, and nothing before them.
  await announce(client, changes, user.notifications);
  checks.equal("notifications after unsubscribing", user.notifications, names(changes));
  checks.equal("ping", wire(await client.ping()), {});
}

async function changesOnAStream(checks, client, user) {
  const { changes: [tools, prompts], watched } = expected;
  user.notifications = [];
  const filter = { promptsListChanged: true, resourceSubscriptions: [watched.uri] };
  const stream = await client.listen(filter);
  checks.equal("honoured filter", stream.honoredFilter, filter);
  await client.callTool({ name: tools.tool, arguments: {} });
  // The second half shows that the first has brought nothing more.
  const announced = [prompts, watched, watched, prompts];
  await announce(client, announced, user.notifications);
  checks.equal("events", user.notifications, names(announced));
  await stream.close();
  checks.equal("end of the stream", await stream.closed, "local");

  // Another stream tells of what comes after a change that only the ended one would tell of.
  user.notifications = [];
  const other = await client.listen({ toolsListChanged: true, promptsListChanged: true });
  await client.callTool({ name: watched.tool, arguments: {} });
  await announce(client, expected.changes, user.notifications);
  checks.equal("events after the end", user.notifications, names(expected.changes));
  await other.close();
}

// A session is ended by the client; a server that serves its standard input ends with that.
async function close(client, target) {
  if (isUrl(target)) await client.transport.terminateSession();
  await client.close();
}

// The exit status of each server, in the order of their ends; of one that does not end, that it was killed.
async function endings(file) {
  const notes = (word) => [...readFileSync(file, "utf8").matchAll(new RegExp(`^${word} (.*)$`, "gm"))].map(([, note]) => note);
  await until(() => notes("ended").length === notes("started").length);
  const [started, ended] = [notes("started"), notes("ended")];
  if (ended.length === started.length) return ended;
  return [...ended, ...started.flatMap(kill)];
}

function kill(group) {
  try {
    process.kill(-Number(group), "SIGKILL");
    return ["killed"];
  } catch {
    return [];
  }
}

async function main(era, target) {
  const checks = new Checks(`typescript ${era} over ${isUrl(target) ? "HTTP" : "stdio"}`);
  const user = new User();
  const folder = mkdtempSync(join(tmpdir(), "typescript-client-"));
  const notes = join(folder, "notes");
  const client = await connect(user, era, isUrl(target) ? target : [apart, notes, ...target]);
  greeting(checks, era, client);
  await lists(checks, client);
  await calls(checks, client);
  await roundTrips(checks, client, user);
  await reads(checks, client);
  await prompts(checks, client, user);
  await completions(checks, client);
  await refusals(checks, era, client);
  await progress(checks, client);
  await logging(checks, era, client, user);
  await (era === "legacy" ? changesInASession : changesOnAStream)(checks, client, user);

  await close(client, target);
  if (!isUrl(target)) {
    // In the modern era the client first asks another process of the server what it speaks.
    const servers = era === "modern" ? 2 : 1;
    const ends = "the server ends by itself at the end of its input";
    checks.equal(ends, await endings(notes), Array(servers).fill("0"));
  }
  rmSync(folder, { recursive: true });
  checks.equal("errors the client saw", user.errors, []);
  return checks.finish();
}

const [era, ...target] = process.argv.slice(2);
process.exit(await main(era, target));
