// What is drawn of stored results, of presentations, and as the view of an app.

export async function rows({ checks }, page) {
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

export async function presentation({ checks }, page) {
  await page.connected();
  await page.call("search_patterns", { q: "retry" });
  checks.equal("the kind of a presentation", await page.text(".structured h4"), "Structured content of the kind patternSearchResults:v1");
}

// The view is drawn, calls back, follows the theme, and reaches nothing.
export async function view({ checks }, page, era) {
  await page.connected();
  if (era !== "2026-07-28") await page.protocol(era);
  await page.call("forecast", { city: "Lisbon" });
  const frame = await (await page.page.waitForSelector("iframe")).contentFrame();
  const becomes = (condition, ...args) => frame.waitForFunction(condition, { polling: 50 }, ...args);
  const says = (id, words) => becomes((id, words) => document.getElementById(id)?.textContent === words, id, words);
  await says("city", "Lisbon");
  await frame.select("#cities", "Oslo");
  await says("city", "Oslo");
  await frame.locator("#days li:nth-child(3) button").click();
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
  await becomes(() => document.documentElement.dataset.theme === "dark");
  // It may load the sandbox under another policy, and then gets nothing drawn there.
  await frame.evaluate(() => (location.search = `?csp=${encodeURIComponent('{"connectDomains":["http://127.0.0.1:9"]}')}`));
  await page.says(".app .news li", "The view has left its document.");
  checks.equal(`${era}: a policy of its own choice`, await frame.evaluate(() => document.title), "View");
}
