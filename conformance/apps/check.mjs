// The weather example, met by a host: what it lists and answers, what its view shows and calls, and which policy holds.
//
//     check.mjs <chromium>

import { mkdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { Checks } from "../clients/checks.mjs";
import { serveHost, serveSandbox, serveService } from "./pages.mjs";
import { openPage, policies, startBrowser, startWeather } from "./processes.mjs";

const checks = new Checks("weather app");
const closing = [];
const artefacts = fileURLToPath(new URL("../../_build/weather/", import.meta.url));
const mimeType = "text/html;profile=mcp-app";
const ui = { resourceUri: "ui://weather/forecast", visibility: ["model", "app"] };
const host = (page, name, ...args) => page.evaluate((name, args) => window.host[name](...args), name, args);

async function main(browserPath) {
  const weather = await startWeather();
  closing.push(async () => checks.equal("the server's exit status", await weather.stop(), 0));
  const pages = await keep(serveHost(weather.url));
  const [service, other] = [await keep(serveService()), await keep(serveService())];
  const browser = await startBrowser(browserPath);
  closing.push(() => browser.close());
  const page = await openPage(browser);
  page.on("pageerror", (error) => checks.equal("an error of the page", error.message, undefined));
  await page.goto(pages.origin);
  await page.waitForFunction(() => window.host);

  await wordsOnly(page);
  for (const era of ["legacy", "modern"]) {
    const { content } = await greeting(page, era);
    const declared = content._meta.ui.csp;
    const [generated, opened] = await policies(declared, { connectDomains: [service.origin] });
    const sandbox = await keep(serveSandbox([generated, opened]));
    const answer = await forecast(page);
    await drawing(page, `${sandbox.origin}/0`, answer, era);
    await closed(page, generated, service);
    await host(page, "show", { sandbox: `${sandbox.origin}/1`, theme: "light", input: {}, result: answer });
    await open(page, opened, service, other);
    await host(page, "leave");
    if (era === "modern") await guide(page, `${sandbox.origin}/0`);
  }
}

async function keep(starting) {
  const server = await starting;
  closing.push(server.close);
  return server;
}

// A client without views gets the same from words, and is not told of what is for the view alone.
async function wordsOnly(page) {
  const { tools } = await host(page, "meet", { era: "modern", renders: false });
  checks.equal("S4-42 tools without views", tools.map((tool) => tool.name), ["forecast"]);
  const { content } = await host(page, "call", "forecast", { city: "Oslo" });
  checks.equal("S4-47 words without views", content[0].text.split("\n").slice(0, 2), [
    "The weather in Oslo:",
    "- Monday: snowy, -6 to -1 °C",
  ]);
  await host(page, "leave");
}

async function greeting(page, era) {
  const met = await host(page, "meet", { era, renders: true });
  checks.equal("revision", met.protocol, era === "legacy" ? "2025-11-25" : "2026-07-28");
  checks.equal("S4-40 extension", met.extensions, { "io.modelcontextprotocol/ui": { mimeTypes: [mimeType] } });
  checks.equal("S4-41 S4-42 tools", met.tools, [
    { name: "forecast", ui },
    { name: "hours", ui: { visibility: ["app"] } },
  ]);
  const view = await host(page, "read", "forecast");
  checks.equal("S4-43 the view", view, {
    uri: ui.resourceUri,
    count: 1,
    content: { uri: ui.resourceUri, mimeType, _meta: { ui: { prefersBorder: true } } },
    isDocument: true,
  });
  return view;
}

async function forecast(page) {
  const answer = await host(page, "call", "forecast", { city: "Lisbon" });
  checks.equal("S4-47 words", answer.content, [
    {
      type: "text",
      text: "Lisbon is sunny today, 13 to 22 °C. The user sees the next days in a view.",
    },
  ]);
  checks.equal("S4-47 data", answer.structuredContent.days[1], { day: "Tuesday", sky: "cloudy", low: 14, high: 20 });
  return answer;
}

// The view shows the result, calls tools back, and follows the theme.
async function drawing(page, sandbox, result, era) {
  const show = { sandbox, theme: "light", input: { city: "Lisbon" }, result };
  checks.equal("the view's name", await host(page, "show", show), { name: "forecast", version: "1.0.0" });
  const view = await frame(page);
  const days = () => view.$$eval("#days button", (buttons) => buttons.map((button) => button.ariaLabel));
  const heading = (city) => says(view, "city", city);

  await heading("Lisbon");
  checks.equal("the days of the result", (await days()).slice(0, 2), [
    "Monday: sunny, 13 to 22 °C",
    "Tuesday: cloudy, 14 to 20 °C",
  ]);

  await view.select("#cities", "Oslo");
  await heading("Oslo");
  checks.equal("the days of another city", (await days())[2], "Wednesday: sunny, -9 to -3 °C");

  await view.locator("#days li:nth-child(3) button").click();
  await view.waitForSelector("#chart:not([hidden])");
  await says(view, "day", "Wednesday in Oslo, every three hours");
  const labels = await view.$$eval("#curve text", (nodes) => nodes.slice(0, 8).map((node) => node.textContent));
  checks.equal("its temperatures", labels, ["-8°", "-9°", "-9°", "-7°", "-4°", "-3°", "-5°", "-7°"]);

  checks.equal("the calls the host saw", await page.evaluate(() => window.host.calls), [
    { name: "forecast", arguments: { city: "Oslo" }, isAllowed: true },
    { name: "hours", arguments: { city: "Oslo", day: "Wednesday" }, isAllowed: true },
  ]);

  const colour = () => view.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  checks.equal("the host's colour", await colour(), "rgb(255, 251, 230)");
  await picture(page, `${era}-light`);
  await host(page, "darken");
  await becomes(view, () => document.documentElement.dataset.theme === "dark");
  checks.equal("the host's dark colour", await colour(), "rgb(16, 24, 32)");
  await picture(page, `${era}-dark`);
}

// The policy in force is the generated one, and nothing can be reached.
async function closed(page, generated, service) {
  checks.equal("S4-46 the policy for no declaration", generated.split("; ").slice(0, 6), [
    "default-src 'none'",
    "script-src 'self' 'unsafe-inline'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "media-src 'self' data:",
    "connect-src 'none'",
  ]);
  const before = service.asked.length;
  const blocked = (directive) => violation(directive, generated, service);
  checks.equal("S4-46 a fetch that nothing declares", await reach(page, service), blocked("connect-src"));
  checks.equal("S4-46 a frame that nothing declares", await embed(page, service), blocked("frame-src"));
  checks.equal("S4-46 a base of its own", await rebase(page, service), blocked("base-uri"));
  checks.equal("the service was asked", service.asked.length - before, 0);
}

// The same document under a policy that declares one origin.
async function open(page, opened, service, other) {
  checks.equal("S4-46 a fetch that is declared", await reach(page, service), { answer: "answered" });
  checks.equal("S4-46 a fetch elsewhere", await reach(page, other), violation("connect-src", opened, other));
  checks.equal("the other service was asked", other.asked, []);
}

const violation = (directive, policy, { origin }) => ({ violated: directive, policy, blocked: origin });
const reach = (page, { origin }) => attempt(page, origin, "fetch");
const embed = (page, { origin }) => attempt(page, origin, "frame");
const rebase = (page, { origin }) => attempt(page, origin, "base");

// The view of guides/apps.md speaks to the host without a library.
async function guide(page, sandbox) {
  const text = await readFile(new URL("../../guides/apps.md", import.meta.url), "utf8");
  const [, document] = text.match(/@html """\n(.*?)"""/s);
  const owed = { content: [{ type: "text", text: "" }], structuredContent: { owed: [200, 100, 0] } };
  const result = { content: [{ type: "text", text: "" }], structuredContent: { monthly: 8.33 } };
  const input = { amount: 300, years: 3 };
  await host(page, "take", document, { owed });
  await host(page, "show", { sandbox, theme: "light", input, result });
  const view = await frame(page);
  await says(view, "monthly", "8.33");
  await view.locator("#ask").click();
  await says(view, "owed", "200, 100, 0");
  checks.equal("the guide's call", await page.evaluate(() => window.host.calls), [
    { name: "owed", arguments: input, isAllowed: true },
  ]);
}

// Does something in the view, and tells what came of it: an answer, or the violation the browser reported.
async function attempt(page, origin, kind) {
  const view = await frame(page);
  return view.evaluate(
    (url, kind) =>
      new Promise((resolve) => {
        const report = ({ effectiveDirective, originalPolicy, blockedURI }) =>
          resolve({ violated: effectiveDirective, policy: originalPolicy, blocked: new URL(blockedURI).origin });
        document.addEventListener("securitypolicyviolation", report, { once: true });
        const add = (name, attributes) => document.body.append(Object.assign(document.createElement(name), attributes));
        const answered = (response) => response.text().then((answer) => resolve({ answer }));
        if (kind === "fetch") fetch(url).then(answered, () => {});
        if (kind === "frame") add("iframe", { src: url });
        if (kind === "base") add("base", { href: url });
      }),
    `${origin}/reached`,
    kind,
  );
}

function says(view, id, words) {
  return becomes(view, (id, words) => document.getElementById(id).textContent === words, id, words);
}

// A frame that nobody sees draws nothing, so this does not wait for a picture.
function becomes(view, condition, ...args) {
  return view.waitForFunction(condition, { polling: 50 }, ...args);
}

// The view is the frame in the sandbox in the page.
async function frame(page) {
  const outer = await (await page.waitForSelector("iframe")).contentFrame();
  return (await outer.waitForSelector("iframe")).contentFrame();
}

async function picture(page, name) {
  await mkdir(artefacts, { recursive: true });
  await page.screenshot({ path: `${artefacts}${name}.png` });
}

try {
  await main(process.argv[2]);
} catch (error) {
  checks.equal("an error", error.stack, undefined);
} finally {
  for (const close of closing.reverse()) await close();
}
process.exitCode = checks.finish();
