// The example server, met by the MCP Inspector's command lines over Streamable HTTP.
//
//     inspector_client.mjs <legacy|modern> <url>
//
// `inspector --cli` connects anew for every request; `mcpdo`, of the same package, keeps a connection, and so can
// answer questions, complete and listen. What neither can do is said at the end. Expected values stand in
// ../expected/everything.json.

import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { Checks } from "./checks.mjs";

const expected = JSON.parse(readFileSync(new URL("../expected/everything.json", import.meta.url)));
const revisions = { legacy: "2025-11-25", modern: "2026-07-28" };
const clients = fileURLToPath(new URL("../node_modules/@modelcontextprotocol/inspector/clients/", import.meta.url));
const launcher = join(clients, "launcher", "build", "index.js");
const mcpdo = join(clients, "mcpdo", "build", "mcp-bin.js");
// `inspector --cli` offers the server neither a model nor a user.
const withoutModel = {
  legacy: {
    content: [{ type: "text", text: "The client does not support sampling, which this call needs" }],
    isError: true,
  },
  modern: { code: "error", message: "Missing required client capability" },
};
const promptThatAsks = "test_input_required_result_prompt";
const cannot = "the Inspector's command lines show no progress, and answer neither sampling nor roots: not tried with it";

// What came over the wire, without what differs between the eras and is checked elsewhere.
function wire(result) {
  const { _meta, resultType, ttlMs, cacheScope, ...rest } = result;
  return rest;
}

class Inspector {
  constructor(era, url) {
    this.era = era;
    this.url = url;
    // A home and a daemon of its own: nothing of the user's is read, and nothing stays.
    this.home = mkdtempSync(join(tmpdir(), "mcp-inspector-"));
    this.catalog = join(this.home, "servers.json");
    writeFileSync(this.catalog, JSON.stringify({ mcpServers: { everything: { type: "streamable-http", url } } }));
    this.env = {
      ...process.env,
      HOME: this.home,
      MCP_INSPECTOR_SECRET_STORE: "memory",
      MCP_INSPECTOR_DAEMON_DIR: join(this.home, "daemon"),
      MCP_INSPECTOR_DAEMON_TOKEN: randomUUID(),
    };
  }

  // One request over a connection of its own.
  async once(method, ...given) {
    const target = ["--cli", "--server-url", this.url, "--transport", "http", "--protocol-era", this.era];
    const { result, error } = await this.run(launcher, [...target, "--format", "json", "-q", "--method", method, ...given]);
    return error ?? wire(result);
  }

  // One command over the connection that is kept.
  async kept(...given) {
    return wire(await this.run(mcpdo, ["--format", "json", "--connection", "everything", ...given]));
  }

  async connect() {
    await this.run(mcpdo, ["--format", "json", "connect", "everything", "--config", this.catalog, "--era", this.era]);
  }

  // Whatever it prints on stdout is JSON; where it fails, that is on stderr.
  run(program, given) {
    const options = { env: this.env, timeout: 60_000, maxBuffer: 64 * 1024 * 1024 };
    return new Promise((resolve, reject) => {
      const child = execFile(process.execPath, [program, ...given], options, (error, stdout, stderr) => {
        const text = stdout || stderr;
        try {
          resolve(JSON.parse(text));
        } catch {
          reject(new Error(`${given.join(" ")}: ${error?.message ?? "no JSON"}\n${text}`));
        }
      });
      child.stdin.end();
    });
  }

  // The events of a subscription, one after the other; they end after a while.
  subscribe(uri) {
    const given = ["--format", "json", "--connection", "everything", "resources/subscribe", uri];
    const options = { env: this.env, stdio: ["ignore", "pipe", "inherit"], timeout: 60_000 };
    const child = spawn(process.execPath, [mcpdo, ...given], options);
    return { child, events: objects(child.stdout) };
  }

  async end() {
    await this.run(mcpdo, ["--format", "json", "--connection", "everything", "disconnect"]);
    await new Promise((resolve) => execFile(process.execPath, [mcpdo, "daemon", "stop"], { env: this.env }, resolve));
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10 });
  }
}

// JSON objects that follow each other, each ending with a line of its own.
async function* objects(stream) {
  let text = "";
  for await (const line of createInterface({ input: stream })) {
    text += line;
    try {
      yield JSON.parse(text);
      text = "";
    } catch {
      // Not the last line of the object.
    }
  }
}

async function greeting(checks, era, inspector) {
  const shown = await inspector.kept("connections/show");
  checks.equal("protocol version", shown.protocolVersion, revisions[era]);
  checks.equal("server info", shown.serverInfo, expected.serverInfo);
  checks.equal("capabilities", shown.capabilities, expected.capabilities[era]);
}

async function lists(checks, inspector) {
  const { tools } = await inspector.once("tools/list");
  checks.equal("tools", tools.map((tool) => tool.name), expected.tools);
  for (const tool of expected.toolDetails) {
    checks.equal(`tool ${tool.name}`, tools.find(({ name }) => name === tool.name), tool);
  }
  for (const [method, name] of [
    ["resources/list", "resources"],
    ["resources/templates/list", "resourceTemplates"],
    ["prompts/list", "prompts"],
  ]) {
    checks.equal(name, (await inspector.once(method))[name], expected[name]);
  }
}

async function calls(checks, era, inspector) {
  for (const { name, arguments: given, result } of expected.calls) {
    const want = name === "test_missing_capability" ? withoutModel[era] : result;
    const options = ["--tool-name", name, "--tool-args-json", JSON.stringify(given)];
    checks.equal(`call ${name}`, await inspector.once("tools/call", ...options), want);
  }
}

async function reads(checks, inspector) {
  for (const { uri, result } of expected.reads) {
    checks.equal(`read ${uri}`, await inspector.once("resources/read", "--uri", uri), result);
  }
}

async function prompts(checks, inspector) {
  for (const { name, arguments: given, result } of expected.gets) {
    if (name === promptThatAsks) {
      checks.equal(`get ${name}`, (await answering(inspector, "prompts/get", name)).result, result);
      continue;
    }
    const pairs = Object.entries(given).map(([key, value]) => `${key}=${value}`);
    const options = pairs.length > 0 ? ["--prompt-args", ...pairs] : [];
    checks.equal(`get ${name}`, await inspector.once("prompts/get", "--prompt-name", name, ...options), result);
  }
}

async function completions(checks, inspector) {
  for (const { ref, argument, result } of expected.completions) {
    const completion = await inspector.kept(
      ...["prompts/complete", "--complete-ref-type", ref.type, "--complete-ref", ref.name ?? ref.uri],
      ...["--complete-arg-name", argument.name, "--complete-arg-value", argument.value],
    );
    checks.equal(`complete ${JSON.stringify(argument)}`, { completion }, result);
  }
}

// A request that asks comes back with the question, and goes on when that is answered.
async function answering(inspector, ...given) {
  const asked = [];
  let result = await inspector.kept(...given);
  while (result.elicitationPending !== undefined && asked.length < 10) {
    const { elicitationId, message, requestedSchema } = result.elicitationPending;
    asked.push({ method: "elicitation/create", params: { message, requestedSchema } });
    const content = JSON.stringify(expected.answers["elicitation/create"][message]);
    result = await inspector.kept("elicitation/respond", elicitationId, content);
  }
  return { asked, result };
}

async function elicitations(checks, inspector) {
  for (const { name, arguments: given, requests, result } of expected.roundTrips) {
    if (requests.some(({ method }) => method !== "elicitation/create")) continue;
    const got = await answering(inspector, "tools/call", name, JSON.stringify(given));
    checks.equal(`requests of ${name}`, got.asked, requests);
    checks.equal(`result of ${name}`, got.result, result);
  }
}

async function changes(checks, inspector) {
  const { uri, tool } = expected.watched;
  const { child, events } = inspector.subscribe(uri);
  checks.equal("subscribe", (await events.next()).value, { type: "subscribed", uri });
  await inspector.kept("tools/call", tool);
  checks.equal("update", (await events.next()).value, { type: "resources/updated", uri });
  const closed = child.exitCode ?? child.signalCode ?? once(child, "close");
  child.kill("SIGINT");
  await closed;
}

async function main(era, url) {
  const checks = new Checks(`inspector ${era} over HTTP`);
  const inspector = new Inspector(era, url);
  await inspector.connect();
  try {
    await greeting(checks, era, inspector);
    await lists(checks, inspector);
    await calls(checks, era, inspector);
    await reads(checks, inspector);
    await prompts(checks, inspector);
    await completions(checks, inspector);
    await elicitations(checks, inspector);
    await changes(checks, inspector);
  } finally {
    await inspector.end();
  }
  console.log(`${cannot}.`);
  return checks.finish();
}

process.exit(await main(...process.argv.slice(2)));
