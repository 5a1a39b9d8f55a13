// The playground of an example, started as a developer starts it, and its page in a browser.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { openPage } from "../apps/processes.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const artefacts = path("../../_build/playground/");

export const startPlayground = (example, router, ...options) =>
  start(`../../examples/${example}`, ["mcp.playground", router, "--port", "0", ...options]);

// The plug, in another application's web server.
export const startMounted = () => start("../..", ["run", "--no-compile", path("mounted.exs")]);

// The address of the page, with the token, and what ends its server.
async function start(folder, words) {
  const server = spawn("mix", words, { cwd: path(folder), stdio: ["ignore", "inherit", "pipe"], env: { ...process.env, PORT: "0" } });
  const ended = once(server, "exit");
  let address;
  for await (const line of createInterface({ input: server.stderr })) {
    console.error(line.replace(/#.*/, "#…"));
    if ((address = line.match(/^The playground is at (http:\S+)$/)?.[1])) break;
  }
  server.stderr.resume();
  if (!address) throw new Error(`mix ${words.join(" ")} did not start: ${await ended}`);
  const stop = async () => {
    server.kill("SIGTERM");
    return (await ended)[0];
  };
  return { address, stop };
}

// What a developer does on the page.
export class Page {
  static async open(browser, address, viewport = { width: 1400, height: 900 }) {
    const page = await openPage(browser);
    await page.setViewport(viewport);
    const self = new Page(page);
    await page.evaluateOnNewDocument(() => {
      window.violations = [];
      addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
        window.violations.push(`${effectiveDirective} ${blockedURI}`));
    });
    await page.goto(address);
    return self;
  }

  constructor(page) {
    this.page = page;
    this.errors = [];
    page.on("pageerror", (error) => this.errors.push(error.message));
  }

  connected() {
    return this.page.waitForSelector("#nav li button");
  }

  async choose(name) {
    // A tab that is not in front draws nothing, and nothing can be clicked there.
    await this.page.bringToFront();
    await this.click(`xpath///nav//li/button[span[1]="${name}"]`);
    await this.becomes((name) => document.querySelector("#nav [aria-current] span")?.textContent === name, name);
  }

  // Fills fields by their label, within `scope`.
  async fill(values, scope = "main") {
    for (const [label, value] of Object.entries(values)) {
      const field = await this.page.waitForSelector(
        `xpath///${scope}//label[starts-with(normalize-space(.), "${label}")]/following-sibling::*[self::input or self::textarea or self::select]`);
      const name = await field.evaluate(({ localName }) => localName);
      if (name === "select") {
        const option = await field.$$eval("option", (all, value) => all.find(({ textContent }) => textContent === value).value, value);
        await field.select(option);
      } else {
        await field.evaluate((input) => input.select());
        await field.type(value);
      }
    }
  }

  async press(label, scope = "main") {
    await this.page.bringToFront();
    await this.click(`xpath///${scope}//button[normalize-space(.)="${label}"]`);
  }

  // Lists and forms are drawn anew while somebody points at them; a locator looks again.
  click(selector) {
    return this.page.locator(selector).click();
  }

  // The columns once all have ended: revision, state and texts.
  async results() {
    await this.becomes(() => {
      const columns = [...document.querySelectorAll(".column")];
      return columns.length > 0 && columns.every(({ dataset }) => dataset.state);
    });
    return this.page.$$eval(".column", (columns) => columns.map((column) => ({
      revision: column.querySelector("h3").textContent,
      state: column.dataset.state,
      texts: [...column.querySelectorAll("pre.text")].map(({ textContent }) => textContent),
    })));
  }

  async call(name, values, label = "Call") {
    await this.choose(name);
    await this.fill(values ?? {});
    await this.press(label);
    return this.results();
  }

  async dialog() {
    await this.page.waitForSelector("dialog[open]");
    return this.page.$eval("dialog[open]", (dialog) => dialog.querySelector("h2").textContent);
  }

  async protocol(title) {
    await this.page.evaluate(() => document.querySelector("main").replaceChildren());
    await this.fill({ Protocol: title }, "header");
    await this.page.waitForSelector("main h2");
  }

  text(selector) {
    return this.page.$eval(selector, ({ textContent }) => textContent);
  }

  says(selector, words) {
    return this.becomes((selector, words) =>
      [...document.querySelectorAll(selector)].some(({ textContent }) => textContent.includes(words)), selector, words);
  }

  // A tab that is not in front draws nothing, so this does not wait for a picture.
  becomes(condition, ...args) {
    return this.page.waitForFunction(condition, { polling: 50 }, ...args);
  }

  async picture(name) {
    await mkdir(artefacts, { recursive: true });
    await this.page.screenshot({ path: `${artefacts}${name}.png` });
  }
}
