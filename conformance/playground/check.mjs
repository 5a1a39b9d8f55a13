// The playground of the examples, used as a developer uses it: forms, results, questions, tasks, views, both eras; by
// keyboard, by screen reader, and by a page that attacks it.
//
//     check.mjs <chromium>

import { startBrowser } from "../apps/processes.mjs";
import { Checks } from "../clients/checks.mjs";
import { until } from "../clients/until.mjs";
import { appearance, keyboard } from "./appearance.mjs";
import { presentation, rows, view } from "./drawing.mjs";
import { attack, token } from "./locks.mjs";
import { Page, startMounted, startPlayground } from "./playground.mjs";

const checks = new Checks("playground");
const closing = [];
const [newest, sessions] = ["2026-07-28", "2025-11-25"];
const pages = [];

async function main(browserPath) {
  const browser = await startBrowser(browserPath);
  closing.push(() => browser.close());
  const served = async (name, starting) => {
    const { address, stop } = await starting;
    closing.push(async () => checks.equal(`exit status of ${name}`, await stop(), 0));
    return address;
  };
  const start = (example, router, ...options) => served(router, startPlayground(example, router, ...options));
  const open = async (address, viewport) => {
    const page = await Page.open(browser, address, viewport);
    pages.push(page);
    return page;
  };

  const use = { checks, open, closing, closeAll };
  const everything = await start("everything", "Everything.MCP");
  await token(use, everything);
  await attack(use, everything);
  // The pages that it has opened hold connections, of which a browser has six to a host.
  for (const page of await browser.pages()) if (!pages.some((known) => known.page === page)) await page.close();
  for (const era of [newest, sessions]) {
    const page = await open(everything);
    await page.connected();
    if (era !== newest) await page.protocol(era);
    await results(page, era);
    if (era === newest) await forms(page);
    await questions(page, era);
    await subscription(page, await open(everything), era);
    await tasks(page, era);
    await closeAll();
  }
  await eras(await open(everything), everything);
  await keyboard(use, await open(everything));
  await closeAll();
  await appearance(use, everything);

  await rows(use, await open(await start("institutions", "Institutions.MCP")));
  await presentation(use, await open(await start("patterns", "Patterns.MCP")));
  const weather = await start("weather", "Weather.MCP");
  for (const era of [newest, sessions]) await view(use, await open(weather), era);
  await mounted(await open(await served("a plug", startMounted())));
  await minted(await open(await start("everything", "Everything.MCP", "--auth")));
  await closeAll();
}

// What the browser has to say of each page, once it has been used.
async function closeAll() {
  for (const { errors, page } of pages.splice(0)) {
    checks.equal("errors of the page", errors, []);
    checks.equal("violations of its policy", await page.evaluate(() => window.violations), []);
    await page.close();
  }
}

async function results(page, era) {
  const one = (state, ...texts) => [{ revision: era, state, texts }];
  checks.equal(`${era}: the lists`, await page.page.$$eval("#nav h2", (all) => all.map(({ textContent }) => textContent)),
    ["Tools (37)", "Prompts (5)", "Resources (3)", "Templates (1)"]);
  checks.equal(`${era}: a form and a call`, await page.call("test_structured_content", { city: "Oslo" }),
    one("done", '{"city":"Oslo","conditions":"partly cloudy","temperature":22.5}'));
  checks.equal(`${era}: its structured content`, await page.page.$$eval(".structured .leaf", (all) => all.map(({ textContent }) => textContent)),
    ['city: "Oslo"', 'conditions: "partly cloudy"', "temperature: 22.5"]);
  checks.equal(`${era}: a tool that fails`, await page.call("test_error_handling"), one("failed", "This tool intentionally returns an error for testing"));
  checks.equal(`${era}: arguments that are wrong`, (await page.call("test_structured_content"))[0].state, "failed");
  await page.call("test_image_content");
  checks.equal(`${era}: an image`, await page.page.$eval(".result img", (image) => image.decode().then(() => image.naturalWidth > 0)), true);
  await page.call("test_audio_content");
  checks.equal(`${era}: a sound`, await page.page.$eval(".result audio", ({ src }) => src.slice(0, 10)), "data:audio");
  checks.equal(`${era}: a header that repeats an argument`, (await page.call("test_x_mcp_header", { region: "Zürich" }))[0].state, "done");
  await page.call("test_tool_with_progress");
  checks.equal(`${era}: progress`, await page.page.$eval(".column progress", ({ value, max }) => [value, max]), [100, 100]);
  checks.equal(`${era}: a prompt`, (await page.call("test_prompt_with_arguments", { arg1: "one", arg2: "two" }, "Get"))[0].texts,
    ["Prompt with arguments: arg1='one', arg2='two'"]);
  checks.equal(`${era}: a resource`, (await page.call("static-text", {}, "Read"))[0].state, "done");
  checks.equal(`${era}: a template`, (await page.call("template", { id: "7" }, "Read"))[0].texts.length, 1);
  await page.fill({ Log: "debug" }, "header");
  await page.call("test_tool_with_logging");
  checks.equal(`${era}: log messages`, (await page.page.$$(".column .logs li")).length, 3);
  const frames = await page.page.$$eval(".frames li", (all) => all.slice(0, 4).map(({ textContent }) => textContent.includes("tools/call") || textContent.includes("result")));
  checks.true(`${era}: the frames`, frames.some(Boolean));
}

// What a form sends: nested objects, and JSON that is written by hand.
async function forms(page) {
  await page.call("json_schema_2020_12_tool", { name: "Ada", street: "Main Street", contactMethod: "email" });
  checks.equal("nested arguments", await sent(page), { address: { street: "Main Street" }, contactMethod: "email", name: "Ada" });
  await page.choose("slow_compute");
  await page.fill({ seconds: "0" });
  await page.click('xpath///main//label[contains(., "as JSON")]/input');
  await page.page.waitForSelector(".fields textarea");
  checks.equal("the fields as JSON", await page.page.$eval(".fields textarea", ({ value }) => JSON.parse(value)), { seconds: 0 });
  const write = (text) => page.page.$eval(".fields textarea", (area, text) => (area.value = text), text);
  await write("{");
  await page.press("Call");
  await page.says("main .failure", "the arguments:");
  await write('{"seconds": 0, "label": null}');
  await page.press("Call");
  await page.results();
  checks.equal("JSON by hand", await sent(page), { seconds: 0, label: null });
}

// The arguments of the last call, as the messages show them.
async function sent(page) {
  const frame = await page.page.waitForSelector('xpath///*[@id="messages"]//li[contains(., "tools/call") and contains(., "→")]//details');
  await frame.evaluate((details) => (details.open = true));
  await frame.waitForSelector("pre");
  return JSON.parse(await frame.$eval("pre", ({ textContent }) => textContent)).params.arguments;
}

async function questions(page, era) {
  const ask = async (name, values) => {
    await page.choose(name);
    await page.fill(values ?? {});
    await page.press("Call");
    return page.dialog();
  };
  const answered = async (label) => {
    await page.press(label, "dialog");
    return (await page.results())[0].texts;
  };
  checks.equal(`${era}: a question`, await ask("test_elicitation", { message: "Who are you?" }), "The server asks");
  await page.fill({ username: "ada", email: "ada@example.com" }, "dialog");
  if (era === newest) await page.picture("elicitation");
  checks.equal(`${era}: accepted`, await answered("Accept"), ['User response: accept, {"email":"ada@example.com","username":"ada"}']);
  await ask("test_elicitation", { message: "Who are you?" });
  checks.equal(`${era}: declined`, await answered("Decline"), ["User response: decline, {}"]);
  await ask("test_elicitation", { message: "Who are you?" });
  await page.page.keyboard.press("Escape");
  checks.equal(`${era}: cancelled`, (await page.results())[0].texts, ["User response: cancel, {}"]);
  checks.equal(`${era}: sampling`, await ask("test_sampling", { prompt: "What is 6 by 7?" }), "The server asks the model");
  await page.fill({ Answer: "42" }, "dialog");
  checks.equal(`${era}: sampling answered`, await answered("Answer"), ["LLM response: 42"]);
  await ask("test_sampling", { prompt: "What is 6 by 7?" });
  await page.press("Decline", "dialog");
  // In a session the tool hears of it.
  if (era === newest) checks.equal("sampling declined", (await page.results())[0].state, "refused");
  else {
    await page.says(".frames li", "error -1 of sampling/createMessage");
    checks.equal("sampling declined in a session", (await page.results())[0].texts, ["The user did not answer"]);
  }
  checks.equal(`${era}: roots`, await ask("test_input_required_result_list_roots"), "roots/list");
  await page.fill({ Result: "{" }, "dialog");
  await page.press("Answer", "dialog");
  await page.says("dialog[open] .failure", "the result:");
  await page.fill({ Result: '{"roots":[{"uri":"file:///home/ada"}]}' }, "dialog");
  checks.equal(`${era}: roots answered`, await answered("Answer"), ["Roots: file:///home/ada"]);
  await ask("test_input_required_result_multi_round");
  await page.fill({ name: "Ada" }, "dialog");
  await page.press("Accept", "dialog");
  await page.says("dialog[open] p", "color");
  await page.fill({ color: "red" }, "dialog");
  checks.equal(`${era}: two rounds`, await answered("Accept"), ["Ada likes red."]);
}

// One tab reads a resource and hears that it has changed; another tab changes it.
async function subscription(page, other, era) {
  await other.connected();
  await page.call("watched", {}, "Read");
  // The stream for lists was acknowledged before: only the next one has the resource.
  await page.page.evaluate(() => document.querySelectorAll(".news li").forEach((item) => item.remove()));
  await page.press("Subscribe");
  await page.says("main button", "Unsubscribe");
  if (era === newest) await page.says(".news li", "subscriptions/acknowledged");
  await page.page.evaluate(() => document.querySelector(".columns").replaceChildren());
  await other.call("test_trigger_resource_update");
  await page.says(".news li", "resources/updated test://watched-resource");
  checks.equal(`${era}: it is read again`, (await page.results())[0].state, "done");
  await page.page.$eval("#filter", (filter) => (filter.id = "old"));
  await other.call("test_trigger_tool_change");
  await page.says(".news li", "tools/list_changed");
  // The lists are drawn anew, and with them ends what is chosen.
  await page.becomes(() => document.querySelector("#old") === null);
}

async function tasks(page, era) {
  const start = async (name, values, state) => {
    await page.choose(name);
    await page.fill(values);
    const box = 'xpath///main//label[contains(., "as a task")]/input';
    const chosen = await page.page.waitForSelector(box);
    if (!(await chosen.evaluate(({ checked }) => checked))) await page.click(box);
    // A task works for a moment only: who looks after the click may be late.
    await Promise.all([state && page.says(".column p", state), page.press("Call")]);
  };
  await start("slow_compute", { seconds: "0.3", label: "pi" }, "working");
  checks.equal(`${era}: a task`, (await page.results())[0].texts, ["Computed pi."]);
  await start("confirm_delete", { filename: "a.txt" });
  await page.dialog();
  await page.fill({ confirm: "true" }, "dialog");
  await page.press("Accept", "dialog");
  checks.equal(`${era}: a task that asks`, (await page.results())[0].texts, ["Deleted a.txt."]);
  await start("slow_compute", { seconds: "30", label: "e" }, "working");
  await page.press("Cancel");
  checks.equal(`${era}: a task that is cancelled`, (await page.results())[0].state, "refused");
  await page.choose("slow_compute");
  await page.fill({ seconds: "30", label: "e" });
  await page.press("Call");
  await page.press("Cancel");
  checks.equal(`${era}: a call that is cancelled`, (await page.results())[0].state, "cancelled");
}

async function eras(page, address) {
  await page.connected();
  let session;
  page.page.on("response", (response) => (session ??= response.headers()["mcp-session-id"]));
  await page.protocol("both eras");
  const { origin, hash } = new URL(address);
  const ping = async () => (await fetch(`${origin}/${hash.slice(1)}/mcp`, {
    method: "POST", body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-session-id": session },
  })).status;
  checks.equal("the page's session", await ping(), 200);
  await page.page.reload();
  await page.connected();
  // The page says so while it is left, and waits for no answer.
  checks.equal("the session of a page that was left", await until(ping, (status) => status === 404), 404);
  await page.protocol("both eras");
  const text = '{"city":"Oslo","conditions":"partly cloudy","temperature":22.5}';
  checks.equal("both eras", await page.call("test_structured_content", { city: "Oslo" }),
    [newest, sessions].map((revision) => ({ revision, state: "done", texts: [text] })));
  await page.picture("both-eras");
  await page.choose("json_schema_2020_12_tool");
  checks.true("lint beside its tool", (await page.page.$$(".lint li")).length > 0);
}

// Below a path of another application's web server.
async function mounted(page) {
  await page.connected();
  checks.equal("a call to the plug", (await page.call("echo", { text: "there" }))[0].texts, ["there"]);
}

async function minted(page) {
  await page.says("main .failure", "Unauthorized");
  await page.fill({ Scopes: "files:read" }, "header");
  await page.press("Make a token", "header");
  await page.connected();
  checks.equal("with a token", (await page.call("greet", { name: "Ada" }))[0].texts, ["Hello, Ada!"]);
}

try {
  await main(process.argv[2]);
} catch (error) {
  checks.equal("an error", error.stack, undefined);
  for (const page of pages.slice(-2)) await page.picture("error").catch(() => {});
} finally {
  for (const close of closing.reverse()) await close();
}
process.exit(checks.finish());
