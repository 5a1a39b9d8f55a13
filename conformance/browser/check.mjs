// Pages of an allowed and of another origin, in a real browser: what they may send to a server, and read of it.
//
//     check.mjs <chromium>

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { openPage, startBrowser } from "../apps/processes.mjs";
import { Checks } from "../clients/checks.mjs";
import { servePage } from "./pages.mjs";

const checks = new Checks("browser");
const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const closing = [];

// Serves pages of that origin, and prints where.
async function startServer(origin) {
  const server = spawn("mix", ["run", "--no-compile", path("server.exs"), origin], {
    cwd: path("../.."), stdio: ["pipe", "pipe", "inherit"],
  });
  closing.push(async () => { server.stdin.end("\n"); await once(server, "exit"); });
  const urls = [];
  for await (const line of createInterface({ input: server.stdout })) {
    if (line.startsWith("http://")) urls.push(line);
    if (urls.length === 2) return urls;
  }
  throw new Error("the server did not start");
}

async function main(browserPath) {
  const pages = [await servePage(path("page.mjs")), await servePage(path("page.mjs"))];
  closing.push(...pages.map(({ close }) => close));
  const [allowed, other] = pages.map(({ origin }) => origin);
  const [open, guarded] = await startServer(allowed);
  const browser = await startBrowser(browserPath);
  closing.push(() => browser.close());
  const ask = async (origin, name, ...args) => {
    const page = await openPage(browser);
    await page.goto(origin);
    await page.waitForFunction(() => window.page);
    const answer = await page.evaluate((name, args) => window.page[name](...args), name, args);
    await page.close();
    return answer;
  };

  for (const [era, protocol] of [["legacy", "2025-11-25"], ["modern", "2026-07-28"]]) {
    const used = { protocol, tools: ["echo"], text: "from a page" };
    checks.equal(`${era}: a page of an allowed origin`, await ask(allowed, "use", open, era), used);
    checks.equal(`${era}: with a token`, await ask(allowed, "use", guarded, era, "secret"), used);
    const refused = await ask(other, "use", open, era);
    checks.true(`${era}: a page of another origin`, refused.failed !== undefined);
  }

  const body = JSON.stringify({
    jsonrpc: "2.0", id: 1, method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "page", version: "1" } },
  });
  const init = {
    method: "POST", body,
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
  };
  checks.equal("a session's id is readable", await ask(allowed, "read", open, init), {
    status: 200, headers: { "www-authenticate": false, "mcp-session-id": true }, challenge: null,
  });
  const challenged = await ask(allowed, "read", guarded, init);
  checks.equal("a challenge is readable", { ...challenged, challenge: undefined }, {
    status: 401, headers: { "www-authenticate": true, "mcp-session-id": false }, challenge: undefined,
  });
  checks.true("it names the metadata", challenged.challenge.includes("/.well-known/oauth-protected-resource"));
  const metadata = new URL("/.well-known/oauth-protected-resource/mcp", guarded).href;
  checks.equal("so is the metadata", (await ask(allowed, "read", metadata)).status, 200);
  checks.equal("nothing of another origin is", await ask(other, "read", open, init), { failed: "TypeError" });
}

try {
  await main(process.argv[2]);
} catch (error) {
  checks.equal("an error", error.stack, undefined);
} finally {
  for (const close of closing.reverse()) await close();
}
process.exit(checks.finish());
