import { randomBytes } from "node:crypto";
import { regenerateApiKey } from "../../../../src/foundation/credentials/api-key.ts";
import { readStream } from "../../../interfaces/gateway/event-stream.ts";
import { filesBelow } from "../../../helpers/files-below.ts";
import { helloScheduler } from "./hello-scheduler.ts";

const scheduler = helloScheduler();

const forged = () => `al_session=${randomBytes(32).toString("base64url")}`;
const post = (path: string, headers: Record<string, string>, body?: string) =>
  fetch(scheduler().url + path, {
    method: "POST",
    headers,
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
  });

/** Logs in with the cookies that the browser was made to hold; the cookie that it gets. */
async function logIn(held: Record<string, string> = {}): Promise<string> {
  const body = JSON.stringify({ key: scheduler().apiKey });
  const answer = await post("/login", { "content-type": "application/json", ...held }, body);
  expect(answer.status).toBe(204);
  const [cookie = ""] = /^al_session=[\w-]{43}/.exec(answer.headers.get("set-cookie") ?? "") ?? [];
  return cookie;
}

const get = (path: string, cookie: string) =>
  fetch(scheduler().url + path, { headers: { cookie } });
const statusWith = async (cookie: string) => (await get("/control/status", cookie)).status;
const stream = (headers: Record<string, string>) =>
  readStream(`${scheduler().url}/dashboard/api/status-stream`, headers);

test("a cookie that an attacker put into the browser grants nothing before the login, and does not become valid by it", async () => {
  const planted = forged();
  expect(await statusWith(planted)).toBe(401);
  const given = await logIn({ cookie: planted });
  expect([await statusWith(planted), await statusWith(given)]).toEqual([401, 200]);
});

test("a cookie that an attacker put into the browser that is the attacker's own session is ended by the login, and not shared", async () => {
  const attackers = await logIn();
  expect(await statusWith(attackers)).toBe(200);
  const own = await logIn({ cookie: attackers });
  expect([await statusWith(attackers), await statusWith(own)]).toEqual([401, 200]);
});

test("a cookie that an attacker put into the browser beside the real cookie gives no access to the real session", async () => {
  const own = await logIn();
  const value = own.slice("al_session=".length);
  // Browsers send the cookie of the longer path first: a planted one does not lock out the real one.
  for (const cookies of [`al_session=x; ${forged()}; ${own}`, `${own}; ${forged()}`])
    expect(await statusWith(cookies), cookies).toBe(200);
  for (const cookies of [
    forged(),
    `x_${own}; a=${own}`,
    `AL_SESSION=${value}`,
    `al_session="${value}x"`,
    `al_session=%2500${value}`,
  ])
    expect(await statusWith(cookies), cookies).toBe(401);
});

test("a cookie that was stolen is worth nothing after the logout, and its streams end", async () => {
  const cookie = await logIn();
  const open = await stream({ cookie });
  expect(open.status).toBe(200);
  const left = await post("/logout", { cookie, "sec-fetch-site": "same-origin" });
  expect([left.status, await statusWith(cookie)]).toEqual([303, 401]);
  await expect.poll(() => open.isEnded()).toBe(true);
});

test("a cookie that was stolen can't act without the browser's headers, and is in no file in clear text", async () => {
  const cookie = await logIn();
  expect((await post("/control/pause", { cookie })).status).toBe(403);
  const { dir, home } = scheduler().project;
  const files = [...(await filesBelow(dir)), ...(await filesBelow(home))];
  expect(files.some(([path]) => /session/.test(path))).toBe(true);
  const value = cookie.slice("al_session=".length);
  for (const [path, text] of files) expect(text.includes(value), path).toBe(false);
});

test("a new key ends the streams of the old key and of its sessions", async () => {
  const { apiKey, project } = scheduler();
  const cookie = await logIn();
  const streams = [await stream({ cookie }), await stream({ authorization: `Bearer ${apiKey}` })];
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);
  await regenerateApiKey(project.home);
  const areEnded = () => streams.map((one) => one.isEnded());
  await expect.poll(areEnded, { timeout: 60_000 }).toEqual([true, true]);
  expect(await statusWith(cookie)).toBe(401);
});
