import { createHash } from "node:crypto";
import { operatorApp } from "../../../src/interfaces/gateway/app.ts";
import { apiKey, bearer, logIn, openApp, type TestDeps } from "./start-gateway.ts";

type Headers = Record<string, string>;

async function tcp(overrides: Partial<TestDeps> = {}) {
  const { app } = await openApp(overrides);
  const ask = (url: string, headers: Headers = {}, method: "GET" | "POST" | "HEAD" = "GET") =>
    app.inject({ method, url, headers });
  const statusWith = async (headers: Headers) => (await ask("/control/status", headers)).statusCode;
  return { app, ask, statusWith };
}

describe("authentication", () => {
  test.each([
    ["GET", "/control/status"],
    ["POST", "/control/pause"],
    ["GET", "/dashboard/agents/dev/logs"],
  ] as const)("is needed for %s %s", async (method, url) => {
    const response = await (await tcp()).ask(url, {}, method);
    expect(response.headers["www-authenticate"]).toBe("Bearer");
    expect(response.headers["content-type"]).toContain("application/problem+json");
    expect(response.json()).toMatchObject({ status: 401, error: "unauthorized" });
  });

  test.each([
    [`Bearer ${apiKey}`, 200],
    [`bearer ${apiKey}`, 200],
    ["Bearer other", 401],
    ["Bearer ", 401],
    [`Basic ${apiKey}`, 401],
  ])("with %j is answered with %i", async (authorization, status) => {
    expect(await (await tcp()).statusWith({ authorization })).toBe(status);
  });

  test("follows a regenerated key", async () => {
    let key = "old";
    const { statusWith } = await tcp({ apiKey: () => key });
    key = "new";
    const statuses = ["old", "new"].map((one) => statusWith({ authorization: `Bearer ${one}` }));
    expect(await Promise.all(statuses)).toEqual([401, 200]);
  });

  test("sends a browser to the login page and from there to its page", async () => {
    const url = "/dashboard/agents/dev/logs?instance=a";
    const response = await (await tcp()).ask(url, { accept: "text/html" });
    expect(response.statusCode).toBe(302);
    expect(response.headers.location).toBe(`/login?next=${encodeURIComponent(url)}`);
  });
});

test.each(["localhost:1234", "127.0.0.1", "[::1]:8080", "almanac.lan:9", "LOCALHOST"])(
  "the host name %s is accepted",
  async (host) => {
    const { statusWith } = await tcp({ allowedHosts: ["almanac.lan"] });
    expect(await statusWith({ ...bearer, host })).toBe(200);
  },
);

test("a foreign host name is rejected, even if forwarded by a proxy", async () => {
  const { ask } = await tcp({ trustProxy: true });
  const headers = { ...bearer, host: "evil.example", "x-forwarded-host": "localhost" };
  const response = await ask("/control/status", headers);
  expect(response.json()).toMatchObject({ status: 403, error: "unknown_host" });
});

test("health and webhooks answer to any host name", async () => {
  const { ask } = await tcp();
  const headers = { host: "hooks.example" };
  expect((await ask("/health", headers)).statusCode).toBe(200);
  expect((await ask("/webhooks/github", headers, "POST")).statusCode).toBe(200);
});

test.each<[Headers, number]>([
  [{ "sec-fetch-site": "same-origin" }, 200],
  [{ origin: "http://localhost:80" }, 200],
  [{ "sec-fetch-site": "cross-site" }, 403],
  [{ "sec-fetch-site": "same-site" }, 403],
  [{ origin: "http://evil.example" }, 403],
  [{ origin: "http://localhost:3000" }, 403],
  [{ origin: "null" }, 403],
  [{}, 403],
])("a POST with a session and %j is answered with %i", async (extra, status) => {
  const { app, ask } = await tcp();
  const headers = { cookie: await logIn(app), host: "localhost", ...extra };
  expect((await ask("/control/pause", headers, "POST")).statusCode).toBe(status);
});

test("a stream with a session is rejected only if another site requests it", async () => {
  const { app, ask } = await tcp();
  const cookie = await logIn(app);
  const statusWith = async (headers: Headers) =>
    (await ask("/dashboard/api/status-stream", headers, "HEAD")).statusCode;
  expect(await statusWith({ cookie })).toBe(200);
  expect(await statusWith({ cookie, "sec-fetch-site": "cross-site" })).toBe(403);
});

test("a missing path is a 404 problem, and a page for a browser", async () => {
  const { ask } = await tcp();
  const problem = (await ask("/nothing")).json<object>();
  expect(problem).toMatchObject({ status: 404, error: "not_found", title: "Not Found" });
  const page = await ask("/<script>", { accept: "text/html" });
  expect(page.statusCode).toBe(404);
  expect(page.headers["content-type"]).toContain("text/html");
  expect(page.body).not.toContain("There is nothing at /<script>");
});

test("a path that can't be decoded is a 400 problem", async () => {
  const response = await (await tcp()).ask("/control/%zz", bearer);
  expect(response.json()).toMatchObject({ status: 400, error: "malformed" });
});

test("an unexpected error is a 500 without details, which are logged", async () => {
  const { post, deps } = await openApp();
  deps.operations.context.switches.setPaused = () => Promise.reject(new Error("disk on fire"));
  const response = await post("/control/pause");
  expect(response.statusCode).toBe(500);
  expect(response.body).not.toContain("fire");
  expect(deps.lines.join()).toContain("50 POST /control/pause failed: Error: disk on fire");
});

test("pages run only their own scripts and can't be framed", async () => {
  const { headers, body } = await (await tcp()).ask("/login");
  const policy = String(headers["content-security-policy"]);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain("unsafe");
  const sourceOf = (text = "") => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const texts = (tag: string) =>
    [...body.matchAll(new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`, "g"))].map(([, text]) => text);
  expect(policy).toContain(`script-src ${texts("script").map(sourceOf).join(" ")};`);
  expect(policy).toContain(`style-src ${texts("style").map(sourceOf).join(" ")};`);
  expect(headers["strict-transport-security"]).toBeUndefined();
});

test.each(["/health", "/control/status", "/nothing"])(
  "%s lets a browser load and run nothing",
  async (url) => {
    expect((await (await tcp()).ask(url)).headers).toMatchObject({
      "content-security-policy": "default-src 'none';frame-ancestors 'none'",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "same-origin",
      "x-content-type-options": "nosniff",
    });
  },
);

test("the gateway serves the API and no dashboard without --web-ui", async () => {
  const { ask } = await tcp({ dashboard: false });
  for (const page of ["", "/triggers", "/agents/dev"])
    expect((await ask(`/dashboard${page}`, bearer)).statusCode).toBe(404);
  const stream = await ask("/dashboard/api/status-stream", bearer, "HEAD");
  expect(stream.statusCode).toBe(200);
});

test.each<[string, Headers, number]>([
  ["/control/status", bearer, 200],
  ["/metrics", bearer, 200],
  ["/control/status", { accept: "text/html" }, 401],
  ["/control/status", {}, 401],
  ["/login", {}, 404],
  ["/dashboard", bearer, 404],
  ["/nothing", { accept: "text/html" }, 404],
])("the operator's socket answers %s with %j by %i, for any host", async (url, headers, status) => {
  const { app } = await openApp({}, operatorApp);
  const response = await app.inject({ url, headers: { host: "any.example", ...headers } });
  expect(response.statusCode).toBe(status);
});
