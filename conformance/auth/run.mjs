// The official clients, and a page in Chromium, get tokens from an authorization server for servers behind a proxy.
//
//     run.mjs [<chromium>]

import { tellOfPage } from "./browser.mjs";
import { tellOfProofs } from "./proofs.mjs";
import { startServers } from "./servers.mjs";
import { commands, Story, versions } from "./story.mjs";

const [chromium] = process.argv.slice(2);
const servers = await startServers();
let failed;
try {
  const told = Object.keys(commands).flatMap((name) => Object.keys(versions).map((era) => new Story(name, era, servers).tell()));
  told.push(tellOfProofs(servers));
  if (chromium) told.push(tellOfPage(chromium, servers));
  failed = (await Promise.all(told)).reduce((sum, count) => sum + count);
} finally {
  await servers.close();
}
process.exit(failed > 0 ? 1 : 0);
