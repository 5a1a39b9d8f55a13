// Runs one of the official conformance suites against a server, and judges every scenario by what it left behind.
//
//     run.mjs <legacy|2025-11-25|2026-07-28> <url>
//
// The suites count a scenario as passed when none of its checks failed, so one that stopped early, warned or could not
// be tried passes too. Here a scenario passes when it made exactly the successful checks that ../expected/suites.json
// promises, and nothing else was failed, warned of or skipped. A scenario that is missing fails, and so does a new one.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { judge } from "./judge.mjs";
import { print } from "./table.mjs";

const expected = JSON.parse(readFileSync(new URL("../expected/suites.json", import.meta.url)));
const packages = fileURLToPath(new URL("../node_modules/", import.meta.url));
const longestRun = 5 * 60_000;

function installed(suite) {
  const { version } = JSON.parse(readFileSync(join(packages, suite.package, "package.json")));
  if (version !== suite.version) throw new Error(`${suite.package} is ${version}, and not ${suite.version}: run bin/setup`);
  return join(packages, suite.package, "dist", "index.js");
}

// Resolves with the exit code; the suite's own talk goes to stderr.
function start(suite, url, results) {
  const given = ["server", "--url", url, ...suite.arguments, "--output-dir", results];
  const child = spawn(process.execPath, [installed(suite), ...given], {
    stdio: ["ignore", process.stderr, process.stderr],
    timeout: longestRun,
    killSignal: "SIGKILL",
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(code ?? signal));
  });
}

// The checks by scenario. Each scenario has a folder of its own, named after it and the time.
function collect(results) {
  const checks = new Map();
  for (const folder of readdirSync(results)) {
    const [, scenario] = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(folder) ?? [];
    if (scenario === undefined) throw new Error(`the suite left a folder of an unknown kind: ${folder}`);
    checks.set(scenario, read(join(results, folder, "checks.json")));
  }
  return checks;
}

// A scenario that broke down leaves an empty folder.
function read(file) {
  try {
    return JSON.parse(readFileSync(file));
  } catch {
    return [];
  }
}

async function main(name, url) {
  const suite = expected[name];
  if (suite === undefined || url === undefined) throw new Error(`usage: run.mjs <${Object.keys(expected).join("|")}> <url>`);
  const results = mkdtempSync(join(tmpdir(), "mcp-conformance-"));
  try {
    const status = await start(suite, url, results);
    const verdict = judge(suite, collect(results));
    print(`conformance ${name} (${suite.version})`, verdict);
    if (status !== 0) console.log(`The suite itself ended with ${status}.`);
    return verdict.good && status === 0 ? 0 : 1;
  } finally {
    rmSync(results, { recursive: true });
  }
}

process.exit(await main(...process.argv.slice(2)));
