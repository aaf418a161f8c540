import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FastifyInstance } from "fastify";
import { tcpApp } from "../../../../src/interfaces/gateway/app.ts";
import { openSessions } from "../../../../src/interfaces/gateway/sessions.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { apiKey, logIn, testDeps, type TestDeps } from "../start-gateway.ts";

const form = { "content-type": "application/x-www-form-urlencoded" };

async function setUp(overrides: Partial<TestDeps> = {}): Promise<FastifyInstance> {
  const app = await tcpApp(testDeps(overrides));
  onTestFinished(() => app.close());
  return app;
}

test("the login page asks for the key and names where it is", async () => {
  const response = await (await setUp()).inject({ url: "/login?next=/dashboard/agents/a/logs" });
  expect(response.statusCode).toBe(200);
  expect(response.body).toContain("/home/me/.almanac/credentials/gateway_api_key/default/key");
  expect(response.body).toContain('value="/dashboard/agents/a/logs"');
});

test("an expired session is reported, and a logout is not", async () => {
  const app = await setUp();
  const cookie = `al_session=${"a".repeat(43)}`;
  const over = await app.inject({ url: "/login", headers: { cookie } });
  expect(over.body).toContain("Your session is over.");
  const loggedOut = await app.inject({ url: "/login" });
  expect(loggedOut.body).not.toContain("Your session is over.");
});

test("the key becomes a session: 303 to the browser's page, 204 for a program", async () => {
  const app = await setUp();
  const payload = `key=${apiKey}&next=%2Fdashboard%2Fagents%2Fdev%2Flogs`;
  const browser = await app.inject({ method: "POST", url: "/login", headers: form, payload });
  expect(browser.statusCode).toBe(303);
  expect(browser.headers.location).toBe("/dashboard/agents/dev/logs");
  const cookie = String(browser.headers["set-cookie"]);
  expect(cookie).toMatch(/^al_session=[\w-]{43};/);
  expect(cookie).toContain("HttpOnly");
  expect(cookie).toContain("SameSite=Strict");
  expect(cookie).toContain("Path=/");
  expect(cookie).not.toContain("Secure");
  const program = await app.inject({ method: "POST", url: "/login", payload: { key: apiKey } });
  expect(program.statusCode).toBe(204);
  const status = { url: "/control/status", headers: { cookie: cookie.split(";")[0] ?? "" } };
  expect((await app.inject(status)).statusCode).toBe(200);
});

test("over TLS the cookie is Secure", async () => {
  const app = await setUp({ trustProxy: true });
  const headers = { "x-forwarded-proto": "https" };
  const request = { method: "POST", url: "/login", headers, payload: { key: apiKey } } as const;
  expect(String((await app.inject(request)).headers["set-cookie"])).toContain("Secure");
});

test("the login never redirects to another site", async () => {
  const app = await setUp();
  const payload = `key=${apiKey}&next=${encodeURIComponent("//evil.example")}`;
  const response = await app.inject({ method: "POST", url: "/login", headers: form, payload });
  expect(response.headers.location).toBe("/dashboard");
});

test("a wrong key is a 401: a page for the form, a problem for JSON", async () => {
  const app = await setUp();
  const request = { method: "POST", url: "/login", headers: form, payload: "key=wrong" } as const;
  const page = await app.inject(request);
  expect(page.statusCode).toBe(401);
  expect(page.headers["set-cookie"]).toBeUndefined();
  expect(page.body).toContain("This is not the gateway’s API key.");
  const problem = await app.inject({ method: "POST", url: "/login", payload: { key: "wrong" } });
  expect(problem.statusCode).toBe(401);
  expect(problem.json()).toMatchObject({ error: "wrong_key" });
});

test("an empty key in the store is never accepted", async () => {
  const app = await setUp({ apiKey: () => "" });
  for (const key of ["", " "]) {
    const response = await app.inject({ method: "POST", url: "/login", payload: { key } });
    expect(response.statusCode).toBe(401);
  }
});

/** Shows keys one after the other; how many of them were answered late. */
async function lateAnswers(requests: readonly (() => Promise<unknown>)[]): Promise<number> {
  let late = 0;
  for (const send of requests) {
    const began = performance.now();
    await send();
    if (performance.now() - began > 1_500) late += 1;
  }
  return late;
}

test("wrong keys are answered late in form and header, and the right key of the same address at once", async () => {
  const app = await setUp();
  const guess = (key: string) => () =>
    app.inject({ method: "POST", url: "/login", payload: { key }, remoteAddress: "10.0.0.1" });
  const bearerOf = (key: string) => () =>
    app.inject({
      url: "/control/status",
      headers: { authorization: `Bearer ${key}` },
      remoteAddress: "10.0.0.1",
    });
  const wrong = ["1", "2", "3", "4"].map(guess);
  expect(await lateAnswers([...wrong, guess(apiKey), bearerOf(apiKey)])).toBe(0);
  expect(await lateAnswers([guess("5"), bearerOf("6")])).toBe(2);
  expect((await guess(apiKey)()).statusCode).toBe(204);
});

test("keys beyond the limit are a 429 in form and header", async () => {
  const app = await setUp();
  const headers = { authorization: "Bearer wrong" };
  await Promise.all(
    Array.from({ length: 200 }, () => app.inject({ url: "/control/status", headers })),
  );
  for (const request of [
    { url: "/control/status", headers: { authorization: `Bearer ${apiKey}` } },
    { method: "POST", url: "/login", payload: { key: apiKey } },
  ] as const) {
    const refused = await app.inject(request);
    expect(refused.statusCode).toBe(429);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  }
});

test.each([
  ["behind a proxy, the address that the proxy added", true],
  ["without a proxy, the connection's own address", false],
] as const)("%s is slowed down, whatever the client claims", async (_what, trustProxy) => {
  const app = await setUp({ trustProxy });
  const requests = Array.from({ length: 5 }, (_none, n) => () => {
    const headers = { "x-forwarded-for": `198.51.100.${n}, 203.0.113.7` };
    return app.inject({ method: "POST", url: "/login", headers, payload: { key: "wrong" } });
  });
  expect(await lateAnswers(requests)).toBe(1);
});

test.each(["GET", "POST"] as const)("%s /logout ends the session", async (method) => {
  const app = await setUp();
  const headers = { cookie: await logIn(app), "sec-fetch-site": "same-origin" };
  const response = await app.inject({ method, url: "/logout", headers });
  expect(response.statusCode).toBe(303);
  expect(response.headers.location).toBe("/login");
  expect(String(response.headers["set-cookie"])).toMatch(/^al_session=;/);
  expect((await app.inject({ url: "/control/status", headers })).statusCode).toBe(401);
});

test("another site can neither log a user in nor out", async () => {
  const app = await setUp();
  const cookie = await logIn(app);
  const headers = { cookie, "sec-fetch-site": "same-site" };
  const payload = { key: apiKey };
  const login = await app.inject({ method: "POST", url: "/login", headers, payload });
  expect(login.statusCode).toBe(403);
  expect((await app.inject({ url: "/logout", headers })).statusCode).toBe(403);
  expect((await app.inject({ url: "/control/status", headers: { cookie } })).statusCode).toBe(200);
});

test("a HEAD of /logout ends nothing", async () => {
  const app = await setUp();
  const cookie = await logIn(app);
  await app.inject({ method: "HEAD", url: "/logout", headers: { cookie } });
  expect((await app.inject({ url: "/control/status", headers: { cookie } })).statusCode).toBe(200);
});

test("a logged-in user is redirected at once", async () => {
  const app = await setUp();
  const headers = { cookie: await logIn(app) };
  const response = await app.inject({ url: "/login?next=/dashboard", headers });
  expect(response.statusCode).toBe(303);
});

test("a login while another process holds the sessions is a 503, to be retried", async () => {
  const home = tempDir();
  const sessions = openSessions({ home, onProblem: () => undefined });
  const other = new DatabaseSync(join(home, "sessions.db"));
  onTestFinished(() => {
    other.close();
    sessions.close();
  });
  const app = await setUp({ sessions });
  const tryKey = () => app.inject({ method: "POST", url: "/login", payload: { key: apiKey } });
  other.exec("BEGIN IMMEDIATE");
  const refused = await tryKey();
  expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([503, "5"]);
  expect(refused.json()).toMatchObject({ error: "store_unavailable" });
  other.exec("ROLLBACK");
  expect((await tryKey()).statusCode).toBe(204);
});
