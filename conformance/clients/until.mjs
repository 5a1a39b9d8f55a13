// Waits for what is expected, so that nothing depends on how fast the machine is.

import { setTimeout as sleep } from "node:timers/promises";

// Ends a hang, and decides nothing else.
const fuse = 30_000;

// Asks until the answer is good, and gives the last one; a comparison that follows judges it.
export async function until(ask, good = Boolean) {
  const end = performance.now() + fuse;
  for (;;) {
    const answer = await ask();
    if (good(answer) || performance.now() > end) return answer;
    await sleep(50);
  }
}

export const arrival = (list, count) => until(() => list.length >= count);
