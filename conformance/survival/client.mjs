// The official TypeScript client, told by its stdin what to do; it answers each line with one line of JSON.
//
//     client.mjs <legacy|modern> <url>

import { createInterface } from "node:readline";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { until } from "../clients/until.mjs";

const [era, url] = process.argv.slice(2);
const inFlight = 8;

const client = new Client(
  { name: "survivor", version: "1.0.0" },
  { capabilities: { elicitation: {} }, versionNegotiation: { mode: era === "legacy" ? "legacy" : "auto" } },
);
let changed = 0;
client.setNotificationHandler("notifications/tools/list_changed", () => void (changed += 1));
client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }));
await client.connect(new StreamableHTTPClientTransport(new URL(url)));

async function calls(count) {
  const failures = [];
  let left = count;
  const work = async () => {
    while (left > 0) {
      const city = `City ${left--}`;
      try {
        const { structuredContent } = await client.callTool({ name: "test_structured_content", arguments: { city } });
        if (structuredContent?.city !== city) failures.push(`${city}: ${JSON.stringify(structuredContent)}`);
      } catch (error) {
        failures.push(`${city}: ${error}`);
      }
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return { calls: count, failures };
}

// The node that has the session's stream is one of several: it takes some calls to meet it.
async function changes() {
  changed = 0;
  const heard = await until(async () => {
    await client.callTool({ name: "test_trigger_tool_change", arguments: {} });
    return changed > 0;
  });
  return { heard };
}

async function question() {
  const { content } = await client.callTool({ name: "test_input_required_result_elicitation", arguments: {} });
  return { text: content[0].text };
}

const commands = { calls: ([count]) => calls(Number(count)), changes, question };

console.log(JSON.stringify({ version: client.getNegotiatedProtocolVersion() }));
for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...given] = line.split(" ");
  console.log(JSON.stringify(await commands[command](given)));
}
await client.close();
