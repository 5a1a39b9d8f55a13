// The playground of the examples, used as a developer uses it: forms, results, questions, tasks, views, both eras; by
// keyboard, by screen reader, and by a page that attacks it.
//
//     check.mjs <chromium>

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";

import { startBrowser } from "../apps/processes.mjs";
import { Checks } from "../clients/checks.mjs";
import { Page, startPlayground } from "./playground.mjs";

const checks = new Checks("playground");
const closing = [];
const [newest, sessions] = ["2026-07-28", "2025-11-25"];
const pages = [];

async function main(browserPath) {
  const browser = await startBrowser(browserPath);
  closing.push(() => browser.close());
  const start = async (...words) => {
    const { address, stop } = await startPlayground(...words);
    closing.push(async () => checks.equal(`exit status of ${words[1]}`, await stop(), 0));
    return address;
  };
  const open = async (address, viewport) => {
    const page = await Page.open(browser, address, viewport);
    pages.push(page);
    return page;
  };

  const everything = await start("everything", "Everything.MCP");
  await token(open, everything);
  await attack(open, everything);
  // The pages that it has opened hold connections, of which a browser has six to a host.
  for (const page of await browser.pages()) if (!pages.some((known) => known.page === page)) await page.close();
  for (const era of [newest, sessions]) {
    const page = await open(everything);
    await page.connected();
    if (era !== newest) await page.protocol(era);
    await results(page, era);
    await questions(page, era);
    await subscription(page, await open(everything), era);
    await tasks(page, era);
    await closeAll();
  }
  await eras(await open(everything));
  await keyboard(await open(everything));
  await closeAll();
  await appearance(open, everything);

  await rows(await open(await start("institutions", "Institutions.MCP")));
  await presentation(await open(await start("patterns", "Patterns.MCP")));
  const weather = await start("weather", "Weather.MCP");
  for (const era of [newest, sessions]) await view(await open(weather), era);
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

// Without the token the page asks for it, and what it asks the server for is refused. The token leaves the address.
async function token(open, address) {
  const { origin, hash } = new URL(address);
  const page = await open(address.replace(/#.*/, ""));
  await page.says("main h2", "Which token?");
  const statuses = await page.page.evaluate(async (known) => {
    const ask = async (path, method) => (await fetch(path, { method })).status;
    const wrong = `${known.slice(0, -1)}${known.endsWith("A") ? "B" : "A"}`;
    return [await ask(`/playground/${wrong}/about`), await ask(`/${wrong}/mcp`, "POST"), await ask(`/playground/${known}/about`)];
  }, hash.slice(1));
  checks.equal("a wrong token", statuses, [403, 404, 200]);
  await page.fill({ Token: "wrong-wrong-wrong-wrong" });
  await page.press("Go on");
  await page.says("main h2", "Which token?");
  await page.fill({ Token: hash.slice(1) });
  await page.press("Go on");
  await page.connected();
  const other = await open(address);
  await other.connected();
  const [paint] = await other.page.evaluate(() => performance.getEntriesByName("first-contentful-paint").map(({ startTime }) => startTime));
  console.log(`first paint after ${paint.toFixed()} ms`);
  checks.equal("the token leaves the address", other.page.url(), `${origin}/playground/index.html`);
  await other.page.reload();
  await other.connected();
  // What would be said of a violation is said.
  const seen = await other.page.evaluate(() => new Promise((resolve) => {
    addEventListener("securitypolicyviolation", ({ effectiveDirective }) => resolve(effectiveDirective), { once: true });
    document.body.append(Object.assign(document.createElement("img"), { src: "http://127.0.0.1:9/" }));
  }));
  checks.equal("a picture of another site", seen, "img-src");
  await other.page.evaluate(() => (window.violations.length = 0));
  await closeAll();
}

// A page of another origin knows where the playground is and, the worst case, even its token.
async function attack(open, address) {
  const { origin, hash } = new URL(address);
  const html = '<!DOCTYPE html><link rel="icon" href="data:,"><title>Attack</title>';
  const server = createServer((_request, answer) => answer.writeHead(200, { "content-type": "text/html" }).end(html));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  for (const host of ["127.0.0.1", "localhost"]) {
    const page = await open(`http://${host}:${server.address().port}/`);
    const got = await page.page.evaluate(async (origin, token) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
      const ask = async (path, init) => {
        try {
          return (await fetch(origin + path, init)).status;
        } catch (error) {
          return error.constructor.name;
        }
      };
      const load = (name, attributes) => new Promise((resolve) => {
        const element = Object.assign(document.createElement(name), attributes);
        element.onload = () => resolve("loaded");
        element.onerror = () => resolve("error");
        document.body.append(element);
      });
      const frame = document.createElement("iframe");
      frame.src = `${origin}/playground/index.html#${token}`;
      document.body.append(frame);
      await new Promise((resolve) => (frame.onload = resolve));
      const sandbox = document.createElement("iframe");
      sandbox.src = `${origin}/playground/view.html?csp=null`;
      document.body.append(sandbox);
      await new Promise((resolve) => (sandbox.onload = resolve));
      const opened = window.open(`${origin}/playground/index.html#${token}`);
      await new Promise((resolve) => setTimeout(resolve, 500));
      const drive = { jsonrpc: "2.0", id: 9, method: "tools/call", params: { name: "test_simple_text" } };
      let answered = false;
      addEventListener("message", () => (answered = true));
      for (const target of [frame.contentWindow, sandbox.contentWindow, opened]) target?.postMessage(drive, "*");
      await new Promise((resolve) => setTimeout(resolve, 300));
      return {
        page: await ask("/playground/index.html"),
        about: await ask(`/playground/${token}/about`),
        list: await ask(`/${token}/mcp`, { method: "POST", body, headers: { "content-type": "application/json" } }),
        simple: await ask(`/${token}/mcp`, { method: "POST", body }),
        script: await load("script", { src: `${origin}/playground/main.js` }),
        framed: frame.contentDocument === null && sandbox.contentDocument === null,
        opened: opened === null || opened.closed,
        answered,
      };
    }, origin, hash.slice(1));
    checks.equal(`an attack from ${host}`, got, {
      page: "TypeError", about: "TypeError", list: "TypeError", simple: "TypeError", script: "error",
      framed: true, opened: true, answered: false,
    });
    await page.page.close();
    pages.splice(pages.indexOf(page), 1);
  }
  for (const headers of [{ host: "evil.example" }, { origin: "https://evil.example" }, { origin: "null" }])
    checks.equal(`a request with ${JSON.stringify(headers)}`, await status(origin, `/playground/${hash.slice(1)}/about`, headers), 403);
}

// fetch sets neither Host nor Origin.
async function status(origin, path, headers) {
  const { request } = await import("node:http");
  const { hostname, port, host } = new URL(origin);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, headers: { host, ...headers } }, (answer) => resolve(answer.resume().statusCode))
      .on("error", reject).end();
  });
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
  checks.equal(`${era}: an image`, await page.page.$eval(".result img", ({ naturalWidth }) => naturalWidth > 0), true);
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
  await ask("test_input_required_result_two_rounds".replace("two_rounds", "multi_round"));
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
  await page.press("Subscribe");
  await page.says("main button", "Unsubscribe");
  if (era === newest) await page.says(".news li", "subscriptions/acknowledged");
  await page.page.evaluate(() => document.querySelector(".columns").replaceChildren());
  await other.call("test_trigger_resource_update");
  await page.says(".news li", "resources/updated test://watched-resource");
  checks.equal(`${era}: it is read again`, (await page.results())[0].state, "done");
  await other.call("test_trigger_tool_change");
  await page.says(".news li", "tools/list_changed");
}

async function tasks(page, era) {
  const start = async (name, values) => {
    await page.choose(name);
    await page.fill(values ?? {});
    const box = await page.page.waitForSelector('xpath///main//label[contains(., "as a task")]/input');
    if (!(await box.evaluate(({ checked }) => checked))) await box.click();
    await page.press("Call");
  };
  await start("slow_compute", { seconds: "0.3", label: "pi" });
  await page.says(".column p", "working");
  checks.equal(`${era}: a task`, (await page.results())[0].texts, ["Computed pi."]);
  await start("confirm_delete", { filename: "a.txt" });
  await page.dialog();
  await page.fill({ confirm: "true" }, "dialog").catch(() => {});
  await page.press("Accept", "dialog");
  checks.equal(`${era}: a task that asks`, (await page.results())[0].texts, ["Deleted a.txt."]);
  await start("slow_compute", { seconds: "30", label: "e" });
  await page.says(".column p", "working");
  await page.press("Cancel");
  checks.equal(`${era}: a task that is cancelled`, (await page.results())[0].state, "refused");
}

async function eras(page) {
  await page.connected();
  await page.protocol("both eras");
  const text = '{"city":"Oslo","conditions":"partly cloudy","temperature":22.5}';
  checks.equal("both eras", await page.call("test_structured_content", { city: "Oslo" }),
    [newest, sessions].map((revision) => ({ revision, state: "done", texts: [text] })));
  await page.picture("both-eras");
  await page.choose("json_schema_2020_12_tool");
  checks.true("lint beside its tool", (await page.page.$$(".lint li")).length > 0);
}

async function keyboard(page) {
  await page.connected();
  const { keyboard } = page.page;
  await keyboard.press("/");
  await keyboard.type("structured");
  await keyboard.press("Tab");
  await keyboard.press("Enter");
  await page.says("main h2", "test_structured_content");
  await keyboard.press("Tab");
  await keyboard.type("Oslo");
  await keyboard.press("Enter");
  checks.equal("a call by keyboard", (await page.results())[0].state, "done");
  await page.page.focus("#filter");
  for (const word of ["Control+A", "test_elicitation"]) await (word.includes("+") ? chord(keyboard, word) : keyboard.type(word));
  await keyboard.press("Tab");
  await keyboard.press("Enter");
  await page.says("main h2", "test_elicitation");
  await reach(page, "INPUT");
  await keyboard.type("Who?");
  await keyboard.press("Enter");
  await page.dialog();
  await keyboard.type("ada@example.com");
  await keyboard.press("Tab");
  await keyboard.type("ada");
  await keyboard.press("Enter");
  checks.equal("a question by keyboard", (await page.results())[0].texts, ['User response: accept, {"email":"ada@example.com","username":"ada"}']);
}

async function chord(keyboard, keys) {
  const [modifier, key] = keys.split("+");
  await keyboard.down(modifier);
  await keyboard.press(key);
  await keyboard.up(modifier);
}

// Tabs on to an element of that name.
async function reach(page, name) {
  for (let tries = 0; tries < 20; tries += 1) {
    await page.page.keyboard.press("Tab");
    if (await page.page.evaluate((name) => document.activeElement.tagName === name, name)) return;
  }
  throw new Error(`no ${name} can be reached by keyboard`);
}

// No violation that axe-core knows, in either theme; what it looks like is kept.
async function appearance(open, address) {
  const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  for (const [width, height, size] of [[1400, 900, "wide"], [900, 900, "middle"], [390, 844, "narrow"]]) {
    for (const theme of ["light", "dark"]) {
      const page = await open("about:blank", { width, height });
      await page.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      await page.page.goto(address);
      await page.connected();
      await accessible(page, axe, `${size}, ${theme}: the start`);
      await page.call("test_multiple_content_types");
      await page.picture(`${size}-${theme}`);
      await accessible(page, axe, `${size}, ${theme}: a result`);
      await page.choose("json_schema_2020_12_tool");
      await page.picture(`${size}-${theme}-form`);
      await accessible(page, axe, `${size}, ${theme}: a form and lint`);
      await page.choose("test_elicitation_sep1330_enums");
      await page.press("Call");
      await page.dialog();
      await page.picture(`${size}-${theme}-question`);
      await accessible(page, axe, `${size}, ${theme}: a question`);
      await closeAll();
    }
  }
}

async function accessible({ page }, axe, name) {
  // The page's own policy lets no script in; the protocol of the browser does.
  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate(() => window.axe.run());
  checks.true(`${name}: axe has looked`, passes.length >= 10);
  checks.equal(`${name}: axe`, violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html }) => html.slice(0, 120))]), []);
}

async function rows(page) {
  await page.connected();
  await page.call("search_institutions");
  const label = await page.page.$eval(".structured button", ({ textContent }) => textContent);
  const count = Number(label.match(/^Fetch all (\d+) rows$/)[1]);
  checks.true("at least 5,000 rows", count >= 5000);
  await page.press(label);
  await page.says(".structured caption", `${count} rows`);
  checks.equal("all rows", await page.page.$eval(".structured table", ({ tBodies }) => tBodies[0].rows.length), count);
  await page.picture("rows");
}

async function presentation(page) {
  await page.connected();
  await page.call("search_patterns", { q: "retry" });
  checks.equal("the kind of a presentation", await page.text(".structured h4"), "Structured content of the kind patternSearchResults:v1");
}

// The view is drawn, calls back, follows the theme, and reaches nothing.
async function view(page, era) {
  await page.connected();
  if (era !== newest) await page.protocol(era);
  await page.call("forecast", { city: "Lisbon" });
  const frame = await (await page.page.waitForSelector("iframe")).contentFrame();
  const says = (id, words) => frame.waitForFunction((id, words) => document.getElementById(id)?.textContent === words, {}, id, words);
  await says("city", "Lisbon");
  await frame.select("#cities", "Oslo");
  await says("city", "Oslo");
  await frame.click("#days li:nth-child(3) button");
  await says("day", "Wednesday in Oslo, every three hours");
  const said = await page.page.$$eval(".app .news li", (all) => all.map(({ textContent }) => textContent));
  checks.equal(`${era}: the view's calls`, said.filter((line) => line.startsWith("tools/call")),
    ['tools/call forecast {"city":"Oslo"}', 'tools/call hours {"city":"Oslo","day":"Wednesday"}']);
  await page.picture(`view-${era}`);
  const reached = await frame.evaluate(async () => {
    const reach = async (work) => {
      try {
        await work();
        return "reached";
      } catch (error) {
        return error.name;
      }
    };
    return [await reach(() => fetch("http://127.0.0.1:9/")), await reach(() => window.parent.document.title), await reach(() => sessionStorage.token), origin];
  });
  checks.equal(`${era}: what the view reaches`, reached, ["TypeError", "SecurityError", "SecurityError", "null"]);
  await page.says(".app .news li", "Blocked by the view's policy: connect-src http://127.0.0.1:9/");
  await page.press("Dark or light", "header");
  await frame.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  // It may load the sandbox under another policy, and then gets nothing drawn there.
  await frame.evaluate(() => (location.search = `?csp=${encodeURIComponent('{"connectDomains":["http://127.0.0.1:9"]}')}`));
  await page.says(".app .news li", "The view has left its document.");
  checks.equal(`${era}: a policy of its own choice`, await frame.evaluate(() => document.title), "View");
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
