// Calls of the example server that go on as tasks, met by the official client of tasks over Streamable HTTP.
//
//     tasks_client.mjs <legacy|modern> <url>
//
// `legacy` has the tasks of 2025-11-25, `modern` the extension io.modelcontextprotocol/tasks of 2026-07-28.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createApplicationInputHandler, createTaskSessionFromClient } from "@modelcontextprotocol/ext-tasks/client";

import { answerOf } from "./answer.mjs";
import { Checks } from "./checks.mjs";

const extension = "io.modelcontextprotocol/tasks";
const clientInfo = { name: "conformance", version: "1.0.0" };
const prefer = { task: { preference: "prefer" } };

// The client sends the requests of the stateless era through a function of the host's.
function dispatch(url) {
  let id = 0;
  return async (request) => {
    const { name, taskId, _meta } = request.params;
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": _meta["io.modelcontextprotocol/protocolVersion"],
        "mcp-method": request.method,
        "mcp-name": name ?? taskId,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: (id += 1), ...request }),
    });
    return answerOf(response);
  };
}

function stateless(url) {
  const clientCapabilities = { elicitation: {}, extensions: { [extension]: {} } };
  return { rawDispatch: dispatch(url), v2RequestFraming: { protocolVersion: "2026-07-28", clientInfo, clientCapabilities } };
}

const text = (outcome) => outcome.result?.content?.[0]?.text;

async function settled(execution) {
  return (await execution.settle()).outcome;
}

async function main(era, url) {
  const checks = new Checks(`tasks ${era} over HTTP`);
  const asked = [];
  const answer = ({ params }) => {
    asked.push(params.message);
    return { action: "accept", content: params.message.startsWith("Delete") ? { confirm: true } : { name: "Ada" } };
  };
  const capabilities = era === "legacy" ? { elicitation: {} } : { elicitation: {}, extensions: { [extension]: {} } };
  const mode = era === "legacy" ? "legacy" : "auto";
  const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const session = createTaskSessionFromClient(client, {
    endpointId: "everything",
    onInputRequest: createApplicationInputHandler({
      elicitation: answer,
      sampling: () => Promise.reject(new Error("nobody asks")),
      roots: () => ({ roots: [] }),
    }),
    ...(era === "modern" ? stateless(url) : {}),
  });

  const plain = await session.callTool("greet", { name: "Ada" });
  checks.equal("a tool without tasks", [plain.kind, text(await settled(plain))], ["immediate", "Hello, Ada!"]);

  const slow = await session.callTool("slow_compute", { seconds: 0.2, label: "primes" }, prefer);
  checks.equal("a call that became a task", slow.kind, "task");
  checks.equal("its result", text(await settled(slow)), "Computed primes.");

  const failing = await settled(await session.callTool("failing_job", {}, prefer));
  if (era === "legacy") checks.equal("a tool that fails", failing.status, "failed");
  else checks.equal("a tool that fails", [failing.status, failing.result.isError, text(failing)], ["completed", true, "This job always fails"]);

  const broken = await settled(await session.callTool("protocol_error_job", {}, prefer));
  checks.equal("a JSON-RPC error", broken.status, "failed");

  if (era === "modern") {
    const deleted = await settled(await session.callTool("confirm_delete", { filename: "notes.txt" }, prefer));
    checks.equal("a task that asks", [text(deleted), asked], ["Deleted notes.txt.", ["Delete notes.txt?"]]);
  } else {
    console.log("the client polls a task of 2025-11-25 that needs input, and does not wait for its result: not tried with it.");
  }

  const cancelled = await session.callTool("slow_compute", { seconds: 60, label: "never" }, prefer);
  await cancelled.cancel();
  checks.equal("a task that is cancelled", (await settled(cancelled)).status, "cancelled");

  await session.close();
  await client.close();
  return checks.finish();
}

const [era, url] = process.argv.slice(2);
process.exit(await main(era, url));
