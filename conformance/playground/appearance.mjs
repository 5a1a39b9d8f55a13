// The page for those who see it, hear it, or use it by keyboard.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

// A call and the answer to a question, without a mouse.
export async function keyboard({ checks }, page) {
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
export async function appearance({ checks, open, closeAll }, address) {
  const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  for (const [width, height, size] of [[1400, 900, "wide"], [900, 900, "middle"], [390, 844, "narrow"]]) {
    for (const theme of ["light", "dark"]) {
      const page = await open("about:blank", { width, height });
      await page.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      await page.page.goto(address);
      await page.connected();
      await accessible(checks, page, axe, `${size}, ${theme}: the start`);
      await page.call("test_multiple_content_types");
      await page.picture(`${size}-${theme}`);
      await accessible(checks, page, axe, `${size}, ${theme}: a result`);
      await page.choose("json_schema_2020_12_tool");
      await page.picture(`${size}-${theme}-form`);
      await accessible(checks, page, axe, `${size}, ${theme}: a form and lint`);
      await page.choose("test_elicitation_sep1330_enums");
      await page.press("Call");
      await page.dialog();
      await page.picture(`${size}-${theme}-question`);
      await accessible(checks, page, axe, `${size}, ${theme}: a question`);
      await closeAll();
    }
  }
}

async function accessible(checks, { page }, axe, name) {
  // The page's own policy lets no script in; the protocol of the browser does.
  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate(() => window.axe.run());
  checks.true(`${name}: axe has looked`, passes.length >= 10);
  checks.equal(`${name}: axe`, violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html }) => html.slice(0, 120))]), []);
}
