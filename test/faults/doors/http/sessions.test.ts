import { randomBytes } from "node:crypto";
import { regenerateApiKey } from "../../../../src/foundation/credentials/api-key.ts";
import { readStream } from "../../../interfaces/gateway/event-stream.ts";
import { helloScheduler } from "./hello-scheduler.ts";

const scheduler = helloScheduler();

const forged = () => `al_session=${randomBytes(32).toString("base64url")}`;
/** Logs in with the cookies that the browser was made to hold; the cookie that it gets. */
async function logIn(held: Record<string, string> = {}): Promise<string> {
  const { url, apiKey } = scheduler();
  const headers = { "content-type": "application/json", ...held };
  const body = JSON.stringify({ key: apiKey });
  const answer = await fetch(`${url}/login`, { method: "POST", headers, body });
  expect(answer.status).toBe(204);
  const [cookie = ""] = /^al_session=[\w-]{43}/.exec(answer.headers.get("set-cookie") ?? "") ?? [];
  return cookie;
}

async function statusWith(cookie: string): Promise<number> {
  return (await fetch(`${scheduler().url}/control/status`, { headers: { cookie } })).status;
}

test("a forged cookie or an attacker's own session in the browser grants nothing after the login", async () => {
  for (const planted of [forged(), await logIn()]) {
    const own = await logIn({ cookie: planted });
    expect([await statusWith(planted), await statusWith(own)]).toEqual([401, 200]);
  }
});

test("a cookie that an attacker put into the browser together with the real cookie gives no access to the real session", async () => {
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

test("a new API key ends the event streams of the old key and of its sessions", async () => {
  const { url, apiKey, project } = scheduler();
  const cookie = await logIn();
  const path = `${url}/dashboard/api/status-stream`;
  const authorization = `Bearer ${apiKey}`;
  const streams = [await readStream(path, { cookie }), await readStream(path, { authorization })];
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);
  await regenerateApiKey(project.home);
  const areEnded = () => streams.map((one) => one.isEnded());
  await expect.poll(areEnded, { timeout: 60_000 }).toEqual([true, true]);
  expect(await statusWith(cookie)).toBe(401);
});
