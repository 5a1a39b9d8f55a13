// Nodes of the example server with a secret, each in a VM of its own that knows of no other.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../examples/everything", import.meta.url));
const script = fileURLToPath(new URL("node.exs", import.meta.url));

// Starts a node, on a free port if none is given. `store` is the folder of its session store.
export async function startNode(secret, port = 0, store = "") {
  const env = { ...process.env, SURVIVAL_SECRET: secret, SURVIVAL_PORT: String(port), SURVIVAL_STORE: store };
  const child = spawn("mix", ["run", "--no-halt", script], { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(child, "exit");
  let url;
  for await (const line of createInterface({ input: child.stderr })) {
    if ((url = line.match(/^Listening on (http:\S+)$/)?.[1])) break;
    console.error(line);
  }
  // What it says later must not fill the pipe.
  child.stderr.resume();
  if (!url) throw new Error(`a node did not start: ${await ended}`);
  const end = (signal) => async () => {
    child.kill(signal);
    await ended;
  };
  return { url, port: Number(new URL(url).port), stop: end("SIGTERM"), kill: end("SIGKILL") };
}
