import { operatorApp } from "../../../../src/interfaces/gateway/app.ts";
import { createLoginLinks } from "../../../../src/interfaces/gateway/login-links.ts";
import { memorySessions } from "../../../helpers/memory-sessions.ts";
import { apiKey, bearer, openApp, type TestDeps } from "../start-gateway.ts";
import { heldSessions } from "../held-sessions.ts";

const gatewayUrl = "http://localhost:8080";

async function setUp(overrides: Partial<TestDeps> = {}) {
  const { app, deps } = await openApp(overrides);
  const newLink = (): string => new URL(deps.loginLinks.create(gatewayUrl).url).pathname;
  const follow = (url: string, headers: Record<string, string> = {}) =>
    app.inject({ url, headers });
  return { app, deps, newLink, follow };
}

test("a login link starts a session as the form does, and redirects to the dashboard", async () => {
  const { newLink, follow } = await setUp();
  const response = await follow(newLink());
  expect([response.statusCode, response.body]).toEqual([303, ""]);
  expect(response.headers).toMatchObject({
    location: "/dashboard",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  });
  const cookie = String(response.headers["set-cookie"]);
  expect(cookie).toMatch(/^al_session=[\w-]{43}; .*Path=\/; HttpOnly; SameSite=Strict/);
  const page = await follow("/dashboard", { cookie: cookie.split(";")[0] ?? "" });
  expect(page.statusCode).toBe(200);
});

test.each([
  ["used", "This login link was used already. al open makes another one."],
  ["expired", "older than 10 minutes"],
  ["unknown", "not one of the running scheduler"],
])(
  "a link that is %s starts no session, and the login page names the reason",
  async (kind, text) => {
    const world = { at: 0 };
    const now = () => world.at;
    const { newLink, follow } = await setUp({ loginLinks: createLoginLinks(() => apiKey, now) });
    const link = kind === "unknown" ? `/login/${"a".repeat(22)}` : newLink();
    if (kind === "used") await follow(link);
    if (kind === "expired") world.at = 600_000;
    const { headers } = await follow(link);
    expect([headers.location, headers["set-cookie"]]).toEqual([`/login?link=${kind}`, undefined]);
    expect((await follow(`/login?link=${kind}`)).body).toContain(text);
  },
);

test.each(["__proto__", "<b>"])(
  "the login page shows no message for the reason %s",
  async (link) => {
    const { follow } = await setUp();
    const { statusCode, body } = await follow(`/login?link=${encodeURIComponent(link)}`);
    expect([statusCode, body.includes('id="message"')]).toEqual([200, false]);
  },
);

test("a used link still leads a logged-in user to the dashboard", async () => {
  const { newLink, follow } = await setUp();
  const link = newLink();
  const cookie = String((await follow(link)).headers["set-cookie"]).split(";")[0] ?? "";
  const again = await follow(String((await follow(link)).headers.location), { cookie });
  expect(again.headers.location).toBe("/dashboard");
});

test("a HEAD, as of a link preview, does not use the login link", async () => {
  const { app, newLink, follow } = await setUp();
  const link = newLink();
  expect((await app.inject({ method: "HEAD", url: link })).statusCode).toBe(405);
  expect((await follow(link)).headers.location).toBe("/dashboard");
});

test("while the sessions can't be written the link stays valid, and no log has its token", async () => {
  const { sessions, release } = heldSessions();
  const { newLink, follow, deps } = await setUp({ sessions });
  const link = newLink();
  expect((await follow(link)).statusCode).toBe(503);
  release();
  expect((await follow(link)).headers.location).toBe("/dashboard");
  expect(deps.lines.join("\n")).not.toContain(link);
});

test("an error while logging in brings no token into the log", async () => {
  const create = () => {
    throw new Error("broken");
  };
  const { newLink, follow, deps } = await setUp({ sessions: { ...memorySessions(), create } });
  const link = newLink();
  expect((await follow(link)).statusCode).toBe(500);
  expect(deps.lines.join("\n")).toContain("GET /login/:token failed");
  expect(deps.lines.join("\n")).not.toContain(link);
});

test("the operator's socket makes a login link, TCP does not", async () => {
  const { app, deps, follow } = await setUp();
  deps.operations.setScheduler({ gatewayUrl });
  const operator = await operatorApp(deps);
  onTestFinished(() => operator.close());
  const ask = { method: "POST", url: "/control/login-link", headers: bearer } as const;
  expect((await app.inject(ask)).statusCode).toBe(404);
  const { url } = (await operator.inject(ask)).json<{ url: string }>();
  expect((await follow(new URL(url).pathname)).headers.location).toBe("/dashboard");
});

test("without the dashboard no link is made, and none logs in", async () => {
  const { newLink, follow } = await setUp({ dashboard: false });
  expect((await follow(newLink())).statusCode).toBe(404);
  const { post } = await openApp({ dashboard: false }, operatorApp);
  const response = await post("/control/login-link");
  expect(response.json()).toMatchObject({ status: 409, error: "no_dashboard" });
});
