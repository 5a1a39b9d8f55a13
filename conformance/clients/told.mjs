// A process that is told by lines what to do, and answers each with one line that is a JSON object. Other lines are its log.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export function startTold([command, ...args], options = {}) {
  const child = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const answers = answersOf(createInterface({ input: child.stdout }));
  const next = async () => {
    const { value, done } = await answers.next();
    if (done) throw new Error(`it ended: ${command} ${args.join(" ")}`);
    return value;
  };
  const ask = (line) => {
    child.stdin.write(`${line}\n`);
    return next();
  };
  const close = () => {
    child.stdin.end();
    return ended;
  };
  return { next, ask, close };
}

async function* answersOf(lines) {
  for await (const line of lines) {
    if (line.startsWith("{")) yield JSON.parse(line);
    else console.error(line);
  }
}
