// A page with the official client, on another origin than the servers, whose person logs in in a window of their own.

import { Guest } from "./guest.mjs";
import { Person } from "./person.mjs";

const callback = `${location.origin}/callback`;

function logIn(url) {
  return new Promise((resolve) => {
    addEventListener("message", ({ data }) => resolve(new URLSearchParams(data)), { once: true });
    window.open(url);
  });
}

// Connects, and calls a tool that needs a wider token.
async function use(url, era) {
  const guest = new Guest(era, url, new Person(callback, logIn));
  try {
    const { version } = await guest.connect();
    const { text } = await guest.call("write");
    const { subject, scopes } = await guest.call("whoami");
    await guest.close();
    return { version, text, subject, scopes };
  } catch (error) {
    return { failed: String(error) };
  }
}

if (location.pathname === "/callback") {
  opener.postMessage(location.search, location.origin);
  close();
}
window.page = { use };
