import type { InjectOptions } from "fastify";
import { apiKey, logIn, openApp, type TestDeps } from "../start-gateway.ts";
import { heldSessions } from "../held-sessions.ts";

const form = { "content-type": "application/x-www-form-urlencoded" };

afterEach(() => vi.useRealTimers());

async function setUp(overrides: Partial<TestDeps> = {}) {
  const { app, deps } = await openApp(overrides);
  const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
  const post = (payload: string | object, options: InjectOptions = {}) =>
    app.inject({ method: "POST", url: "/login", payload, ...options });
  const statusWith = async (headers: Record<string, string>) =>
    (await get("/control/status", headers)).statusCode;
  return { app, deps, get, post, statusWith };
}

test("the login page asks for the key and names the commands that log in without it or print it", async () => {
  const response = await (await setUp()).get("/login?next=/dashboard/agents/a/logs");
  expect(response.statusCode).toBe(200);
  expect(response.body).toMatch(/al open<.*al doctor --show-key</s);
  expect(response.body).toContain('value="/dashboard/agents/a/logs"');
});

test("the login page reports an expired session to a browser with a session cookie only", async () => {
  const { get } = await setUp();
  const over = await get("/login", { cookie: `al_session=${"a".repeat(43)}` });
  expect(over.body).toContain("Your session is over.");
  expect((await get("/login")).body).not.toContain("Your session is over.");
});

test("the key becomes a session: 303 to the browser's page, 204 for a program", async () => {
  const { post, statusWith } = await setUp();
  const payload = `key=${apiKey}&next=%2Fdashboard%2Fagents%2Fdev%2Flogs`;
  const browser = await post(payload, { headers: form });
  expect(browser.statusCode).toBe(303);
  expect(browser.headers.location).toBe("/dashboard/agents/dev/logs");
  const cookie = String(browser.headers["set-cookie"]);
  expect(cookie).toMatch(/^al_session=[\w-]{43};/);
  for (const word of ["HttpOnly", "SameSite=Strict", "Path=/"]) expect(cookie).toContain(word);
  expect(cookie).not.toContain("Secure");
  expect((await post({ key: apiKey })).statusCode).toBe(204);
  expect(await statusWith({ cookie: cookie.split(";")[0] ?? "" })).toBe(200);
});

test("over TLS the cookie is Secure", async () => {
  const { post } = await setUp({ trustProxy: true });
  const headers = { "x-forwarded-proto": "https" };
  const response = await post({ key: apiKey }, { headers });
  expect(String(response.headers["set-cookie"])).toContain("Secure");
});

test("the login never redirects to another site", async () => {
  const { post } = await setUp();
  const payload = `key=${apiKey}&next=${encodeURIComponent("//evil.example")}`;
  expect((await post(payload, { headers: form })).headers.location).toBe("/dashboard");
});

test("a wrong key is a 401: a page for the form, a problem for JSON", async () => {
  const { post } = await setUp();
  const page = await post("key=wrong", { headers: form });
  expect([page.statusCode, page.headers["set-cookie"]]).toEqual([401, undefined]);
  expect(page.body).toContain("This is not the gateway’s API key.");
  const problem = await post({ key: "wrong" });
  expect([problem.statusCode, problem.json()]).toMatchObject([401, { error: "wrong_key" }]);
});

test("an empty key in the store is never accepted", async () => {
  const { post, statusWith } = await setUp({ apiKey: () => "" });
  for (const key of ["", " "]) {
    expect((await post({ key })).statusCode).toBe(401);
    expect(await statusWith({ authorization: `Bearer ${key}` })).toBe(401);
  }
});

test("wrong keys in forms, headers and tokens share one limit, beyond which each is a 429", async () => {
  const { deps, post, get } = await setUp();
  // All guesses are in one window, however long the answers take.
  vi.useFakeTimers({ toFake: ["performance"] });
  const form = (key: string) => post({ key });
  const header = (key: string) => get("/control/status", { authorization: `Bearer ${key}` });
  const guesses = Array.from({ length: 100 }, (_, n) => [`wrong ${n}`, `al_${n}`]).flat();
  await Promise.all(guesses.map((guess, n) => (n % 2 === 0 ? form : header)(guess)));
  const token = { name: "claude", scopes: ["read" as const], days: 1 };
  const known = [apiKey, (await deps.context.tokens.create(token)).token];
  for (const answer of await Promise.all([...known.map(form), ...known.map(header)])) {
    expect(answer.statusCode).toBe(429);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
  }
  expect(deps.lines.join()).not.toContain("al_");
});

test.each([
  ["that a trusted proxy added", true, "203.0.113.7"],
  ["of the connection without a proxy", false, "127.0.0.1"],
])(
  "wrong keys count for the address %s, not for one that the client claims",
  async (_, trustProxy, from) => {
    const { deps, post } = await setUp({ trustProxy });
    await post({ key: "wrong" }, { headers: { "x-forwarded-for": "198.51.100.1, 203.0.113.7" } });
    expect(deps.lines).toEqual([expect.stringMatching(`wrong API key, .* from ${from}$`)]);
  },
);

test.each(["GET", "POST"] as const)("%s /logout ends the session", async (method) => {
  const { app, statusWith } = await setUp();
  const headers = { cookie: await logIn(app), "sec-fetch-site": "same-origin" };
  const response = await app.inject({ method, url: "/logout", headers });
  expect([response.statusCode, response.headers.location]).toEqual([303, "/login"]);
  expect(String(response.headers["set-cookie"])).toMatch(/^al_session=;/);
  expect(await statusWith(headers)).toBe(401);
});

test("another site can neither log a user in nor out, and a HEAD ends no session", async () => {
  const { app, get, post, statusWith } = await setUp();
  const cookie = await logIn(app);
  const headers = { cookie, "sec-fetch-site": "same-site" };
  expect((await post({ key: apiKey }, { headers })).statusCode).toBe(403);
  expect((await get("/logout", headers)).statusCode).toBe(403);
  await app.inject({ method: "HEAD", url: "/logout", headers: { cookie } });
  expect(await statusWith({ cookie })).toBe(200);
});

test("a logged-in user is redirected at once", async () => {
  const { app, get } = await setUp();
  const response = await get("/login?next=/dashboard", { cookie: await logIn(app) });
  expect(response.statusCode).toBe(303);
});

test("a login while another process holds the sessions is a 503, to be retried", async () => {
  const { sessions, release } = heldSessions();
  const { post } = await setUp({ sessions });
  const refused = await post({ key: apiKey });
  expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([503, "5"]);
  expect(refused.json()).toMatchObject({ error: "store_unavailable" });
  release();
  expect((await post({ key: apiKey })).statusCode).toBe(204);
});
