// A page in Chromium logs in and gets a wider token: it may send and read all that this needs (CORS).

import { fileURLToPath } from "node:url";

import { openPage, startBrowser } from "../apps/processes.mjs";
import { servePage } from "../browser/pages.mjs";
import { Checks } from "../clients/checks.mjs";
import { startIssuer } from "./issuer.mjs";
import { withKeys } from "./servers.mjs";
import { versions } from "./story.mjs";

export async function tellOfPage(browserPath, servers) {
  const checks = new Checks("page with tokens");
  const issuer = await startIssuer();
  const pages = await servePage(fileURLToPath(new URL("page.mjs", import.meta.url)));
  const browser = await startBrowser(browserPath);
  const resource = servers.resource("page");
  await servers.serve(resource, issuer.url, { strip: true, origins: [pages.origin] });
  // The page does not ask again, so the server gets the keys before.
  const headers = { authorization: `Bearer ${await issuer.grant(resource)}`, "content-type": "application/json" };
  await withKeys(() => fetch(resource, { method: "POST", headers, body: "{}" }));
  issuer.take();

  for (const [era, version] of Object.entries(versions)) {
    const page = await openPage(browser);
    await page.goto(pages.origin);
    await page.waitForFunction(() => window.page);
    const used = await page.evaluate((...args) => window.page.use(...args), resource, era);
    const expected = { version, text: "written", subject: "ada", scopes: ["files:write", "mcp:use"] };
    checks.equal(`${era}: login, and step-up`, used, expected);
    const { registered, "logged in": logins } = issuer.take();
    checks.equal(`${era}: at the issuer`, [registered, logins], [1, 2]);
    await page.close();
  }

  await browser.close();
  pages.close();
  issuer.close();
  return checks.finish();
}
