import { randomBytes } from "node:crypto";
import { regenerateApiKey } from "../../../../src/foundation/credentials/api-key.ts";
import { readStream } from "../../../interfaces/gateway/event-stream.ts";
import type { TestScheduler } from "../../../helpers/scheduler.ts";
import { filesBelow } from "../../../helpers/files-below.ts";
import { withHelloScheduler } from "./hello-scheduler.ts";

let scheduler: TestScheduler;
withHelloScheduler((started) => (scheduler = started));

const forged = () => randomBytes(32).toString("base64url");
const valueIn = (cookie: string) => /^al_session=([\w-]{43})/.exec(cookie)?.[1] ?? "";

/** Logs in with whatever cookies the browser was made to hold; what it gets. */
async function logIn(cookie: string | null = null): Promise<string> {
  const headers = { "content-type": "application/json", ...(cookie === null ? {} : { cookie }) };
  const body = JSON.stringify({ key: scheduler.apiKey });
  const answer = await fetch(`${scheduler.url}/login`, { method: "POST", headers, body });
  expect(answer.status).toBe(204);
  return answer.headers.get("set-cookie") ?? "";
}

async function statusWith(cookie: string): Promise<number> {
  const answer = await fetch(`${scheduler.url}/control/status`, { headers: { cookie } });
  return answer.status;
}

test("a cookie that an attacker put into the browser grants nothing before the login, and does not become valid by it", async () => {
  const planted = `al_session=${forged()}`;
  expect(await statusWith(planted)).toBe(401);
  const given = valueIn(await logIn(planted));
  expect(given).toHaveLength(43);
  expect(`al_session=${given}`).not.toBe(planted);
  expect(await statusWith(planted)).toBe(401);
  expect(await statusWith(`al_session=${given}`)).toBe(200);
});

test("a cookie that an attacker put into the browser that is the attacker's own session is ended by the login, and not shared", async () => {
  const attackers = `al_session=${valueIn(await logIn())}`;
  expect(await statusWith(attackers)).toBe(200);
  const own = `al_session=${valueIn(await logIn(attackers))}`;
  expect(await statusWith(attackers)).toBe(401);
  expect(await statusWith(own)).toBe(200);
});

test("a cookie that an attacker put into the browser beside the real cookie gives no access to the real session", async () => {
  const own = valueIn(await logIn());
  expect(await statusWith(`al_session=${forged()}`)).toBe(401);
  // Browsers send the cookie of the longer path first: a planted one does not lock out the real one.
  expect(await statusWith(`al_session=x; al_session=${forged()}; al_session=${own}`)).toBe(200);
  expect(await statusWith(`al_session=${own}; al_session=${forged()}`)).toBe(200);
  expect(await statusWith(`x_al_session=${own}; a=al_session=${own}`)).toBe(401);
  expect(await statusWith(`AL_SESSION=${own}`)).toBe(401);
  expect(await statusWith(`al_session="${own}x"`)).toBe(401);
  expect(await statusWith(`al_session=${encodeURIComponent("%00")}${own}`)).toBe(401);
});

test("a cookie that was stolen is worth nothing after the logout, and its streams end", async () => {
  const cookie = `al_session=${valueIn(await logIn())}`;
  const stream = await readStream(`${scheduler.url}/dashboard/api/status-stream`, { cookie });
  expect(stream.status).toBe(200);
  const headers = { cookie, "sec-fetch-site": "same-origin" };
  const left = await fetch(`${scheduler.url}/logout`, {
    method: "POST",
    headers,
    redirect: "manual",
  });
  expect(left.status).toBe(303);
  expect(await statusWith(cookie)).toBe(401);
  await expect.poll(() => stream.isEnded()).toBe(true);
});

test("a cookie that was stolen can't act without the browser's headers, and is in no file in clear text", async () => {
  const cookie = `al_session=${valueIn(await logIn())}`;
  const acting = await fetch(`${scheduler.url}/control/pause`, {
    method: "POST",
    headers: { cookie },
  });
  expect(acting.status).toBe(403);
  const { dir, home } = scheduler.project;
  const files = [...(await filesBelow(dir)), ...(await filesBelow(home))];
  expect(files.some(([path]) => /session/.test(path))).toBe(true);
  for (const [path, text] of files) expect(text.includes(valueIn(cookie)), path).toBe(false);
});

test("a new key ends the streams of the old key and of its sessions", async () => {
  const { url, apiKey, project } = scheduler;
  const path = `${url}/dashboard/api/status-stream`;
  const cookie = `al_session=${valueIn(await logIn())}`;
  const streams = [
    await readStream(path, { cookie }),
    await readStream(path, { authorization: `Bearer ${apiKey}` }),
  ];
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);
  await regenerateApiKey(project.home);
  const areEnded = () => streams.map((stream) => stream.isEnded());
  await expect.poll(areEnded, { timeout: 60_000 }).toEqual([true, true]);
  expect(await statusWith(cookie)).toBe(401);
});
