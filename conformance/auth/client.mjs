// The official TypeScript client, told by its stdin what to do; it answers each line with one line of JSON.
//
//     client.mjs <legacy|modern> <url> [client_id client_secret issuer]
//
// With the credentials of a machine it asks nobody; without, it registers itself and logs in.

import { createInterface } from "node:readline";

import { ClientCredentialsProvider } from "@modelcontextprotocol/client";

import { Guest } from "./guest.mjs";
import { Person } from "./person.mjs";

const callback = "http://127.0.0.1/callback";
const [era, url, clientId, clientSecret, expectedIssuer] = process.argv.slice(2);
const person = new Person(callback, follow);
const machine = clientId && new ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer });
const guest = new Guest(era, url, person, machine || person);
let load;

// A browser without a window: it follows redirects with its cookies until they lead back to the client.
async function follow(start) {
  const cookies = new Map();
  let location = start;
  while (!String(location).startsWith(callback)) {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const response = await fetch(location, { redirect: "manual", headers: { cookie } });
    for (const [, name, value] of response.headers.getSetCookie().map((text) => text.match(/^([^=]+)=([^;]*)/)))
      cookies.set(name, value);
    const to = response.headers.get("location");
    if (!to) throw new Error(`the login ended with ${response.status}`);
    location = new URL(to, location);
  }
  return location.searchParams;
}

// Calls go on until `stop`, eight at a time.
async function startLoad() {
  load = { going: true, calls: 0, failures: [] };
  const work = async () => {
    while (load.going) {
      load.calls += 1;
      await guest.call("whoami").catch((error) => load.failures.push(String(error)));
    }
  };
  load.ended = Promise.all(Array.from({ length: 8 }, work));
  return { going: true };
}

async function stopLoad() {
  load.going = false;
  await load.ended;
  return { calls: load.calls, failures: load.failures };
}

const commands = {
  connect: () => guest.connect(),
  call: (name) => guest.call(name),
  token: async () => ({ token: (await guest.authProvider.tokens()).access_token }),
  load: startLoad,
  stop: stopLoad,
};

for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...given] = line.split(" ");
  const answer = await commands[command](...given).catch((error) => ({ failed: `${error.status}: ${error}` }));
  console.log(JSON.stringify(answer));
}
await guest.close();
