import { setTimeout as wait } from "node:timers/promises";
import { valueAt } from "../../../../streams/where.ts";
import { rows, sortedTexts, targetOf } from "./hook-api.ts";
import type { CallApi, HookApi, PingAnswer } from "./hook-api.ts";

/** https://docs.github.com/en/rest/repos/webhooks; deliveries are those of the last three days, the newest first. */
export const githubHooks: HookApi = {
  credential: "github_token",
  address: "https://api.github.com",
  target: "owner/repository",
  headers: (token) => ({
    authorization: `Bearer ${token}`,
    accept: "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    "user-agent": "almanac",
  }),
  eventsOf: (events) => events ?? ["*"],
  find: async (call, target, urls) => {
    const hooks = rows(await call("GET", `${hooksOf(target)}?per_page=100`));
    const found = hooks.find((hook) => urls.includes(String(valueAt(hook, "config.url"))));
    if (found === undefined) return null;
    const { id, events, active } = found;
    return { id: String(id), events: sortedTexts(events), isActive: active === true };
  },
  save: async (call, target, id, { url, events, secret }) => {
    const config = { url, content_type: "json", insecure_ssl: "0", ...(secret && { secret }) };
    const hook = { active: true, events, config };
    const saved =
      id === null
        ? await call("POST", hooksOf(target), { name: "web", ...hook })
        : await call("PATCH", `${hooksOf(target)}/${id}`, hook);
    return { id: String(valueAt(saved, "id")), secret: null };
  },
  ping: async (call, target, id) => {
    const hook = `${hooksOf(target)}/${id}`;
    const before = new Set((await pings(call, hook)).map((ping) => ping.id));
    await call("POST", `${hook}/pings`);
    return newPing(call, hook, before);
  },
};

const appHook = "/app/hook";

/**
 * The answer to the ping of a new app, which GitHub sends before anyone knows its secret: a refused one is sent again.
 * https://docs.github.com/en/rest/apps/webhooks
 */
export async function repeatPing(call: CallApi): Promise<PingAnswer | null> {
  const first = await newPing(call, appHook, new Set());
  if (first === null || first.status === 200) return first;
  const before = new Set((await pings(call, appHook)).map((ping) => ping.id));
  await call("POST", `${appHook}/deliveries/${first.id}/attempts`);
  return newPing(call, appHook, before);
}

const hooksOf = (target: string): string =>
  `/repos/${targetOf(githubHooks, target, /^[\w-]+\/(?!\.\.?$)[\w.-]+$/)}/hooks`;

/** GitHub lists a delivery some seconds after it was answered. Milliseconds. */
const pauses = [500, 1_000, 2_000, 4_000, 8_000];

/** The first ping that is not among those `before`; null if none comes. */
async function newPing(call: CallApi, hook: string, before: ReadonlySet<string>) {
  for (const pause of pauses) {
    await wait(pause);
    const answered = (await pings(call, hook)).find((ping) => !before.has(ping.id));
    if (answered !== undefined) return answered;
  }
  return null;
}

async function pings(
  call: CallApi,
  hook: string,
): Promise<(PingAnswer & { readonly id: string })[]> {
  return rows(await call("GET", `${hook}/deliveries?per_page=50`))
    .filter((delivery) => delivery.event === "ping")
    .map(({ id, status_code: status, status: text }) => ({
      id: String(id),
      status: Number(status),
      text: String(text),
    }));
}
