// The processes the check needs: the weather server, the generator of policies, the browser.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { launch } from "puppeteer-core";

// In milliseconds: it ends a hang, and is no limit for a busy machine, on which Chromium's processes share two cores.
const fuse = 120_000;
const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

// Starts the weather server on a free port; `stop` waits for it to end and tells its exit status.
export async function startWeather() {
  const server = spawn(path("../../bin/weather"), ["--port", "0"], { stdio: ["ignore", "inherit", "pipe"] });
  const ended = once(server, "exit");
  let url;
  for await (const line of createInterface({ input: server.stderr })) {
    console.error(line);
    if ((url = line.match(/^Listening on (http:\S+)$/)?.[1])) break;
  }
  // What it says later must not fill the pipe.
  server.stderr.resume();
  if (!url) throw new Error(`the weather server did not start: ${await ended}`);
  const stop = async () => {
    server.kill("SIGTERM");
    const [status] = await ended;
    return status;
  };
  return { url, stop };
}

// The policy for each of these declarations, as McpServer.App.CSP makes it.
export async function policies(...declared) {
  const script = ["run", "--no-start", "conformance/apps/policy.exs"];
  const given = declared.map((csp) => JSON.stringify(csp ?? null));
  const { stdout } = await promisify(execFile)("mix", [...script, ...given], { cwd: path("../..") });
  return stdout.trimEnd().split("\n");
}

export function startBrowser(executablePath) {
  return launch({
    executablePath,
    headless: true,
    protocolTimeout: fuse,
    // Chromium's own sandbox needs more than a container grants, and root has none. What is tested is the policy.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
    defaultViewport: { width: 640, height: 560 },
  });
}

export async function openPage(browser) {
  const page = await browser.newPage();
  page.setDefaultTimeout(fuse);
  return page;
}
