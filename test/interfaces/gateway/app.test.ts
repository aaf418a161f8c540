import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { operatorApp } from "../../../src/interfaces/gateway/app.ts";
import { apiKey, bearer, logIn, openApp, type TestDeps } from "./start-gateway.ts";

async function tcp(overrides: Partial<TestDeps> = {}): Promise<FastifyInstance> {
  return (await openApp(overrides)).app;
}

describe("authentication", () => {
  test.each([
    ["GET", "/control/status"],
    ["POST", "/control/pause"],
    ["GET", "/dashboard/agents/dev/logs"],
  ] as const)("%s %s needs authentication", async (method, url) => {
    const response = await (await tcp()).inject({ method, url });
    expect(response.statusCode).toBe(401);
    expect(response.headers["www-authenticate"]).toBe("Bearer");
    expect(response.headers["content-type"]).toContain("application/problem+json");
    expect(response.json()).toMatchObject({ status: 401, error: "unauthorized" });
  });

  test("the right key is accepted, another or an empty one is not", async () => {
    const app = await tcp();
    const statusWith = async (authorization: string): Promise<number> =>
      (await app.inject({ url: "/control/status", headers: { authorization } })).statusCode;
    expect(await statusWith(`Bearer ${apiKey}`)).toBe(200);
    expect(await statusWith(`bearer ${apiKey}`)).toBe(200);
    expect(await statusWith("Bearer other")).toBe(401);
    expect(await statusWith("Bearer ")).toBe(401);
    expect(await statusWith(`Basic ${apiKey}`)).toBe(401);
  });

  test("a regenerated key is the only valid one", async () => {
    let key = "old";
    const app = await tcp({ apiKey: () => key });
    key = "new";
    const ask = (value: string) =>
      app.inject({ url: "/control/status", headers: { authorization: `Bearer ${value}` } });
    expect((await ask("old")).statusCode).toBe(401);
    expect((await ask("new")).statusCode).toBe(200);
  });

  test("an empty key in the store is never accepted", async () => {
    const app = await tcp({ apiKey: () => "" });
    const headers = { authorization: "Bearer " };
    expect((await app.inject({ url: "/control/status", headers })).statusCode).toBe(401);
  });

  test("a browser is sent to the login page and from there to its page", async () => {
    const response = await (
      await tcp()
    ).inject({ url: "/dashboard/agents/dev/logs?instance=a", headers: { accept: "text/html" } });
    expect(response.statusCode).toBe(302);
    expect(response.headers.location).toBe(
      `/login?next=${encodeURIComponent("/dashboard/agents/dev/logs?instance=a")}`,
    );
  });
});

test.each(["localhost:1234", "127.0.0.1", "[::1]:8080", "almanac.lan:9", "LOCALHOST"])(
  "host names: %s is accepted",
  async (host) => {
    const app = await tcp({ allowedHosts: ["almanac.lan"] });
    const response = await app.inject({ url: "/control/status", headers: { ...bearer, host } });
    expect(response.statusCode).toBe(200);
  },
);

test("a foreign name is rejected, even if forwarded by a proxy", async () => {
  const app = await tcp({ trustProxy: true });
  const headers = { ...bearer, host: "evil.example", "x-forwarded-host": "localhost" };
  const response = await app.inject({ url: "/control/status", headers });
  expect(response.statusCode).toBe(403);
  expect(response.json()).toMatchObject({ error: "unknown_host" });
});

test("health and webhooks answer to any name", async () => {
  const app = await tcp();
  const headers = { host: "hooks.example" };
  expect((await app.inject({ url: "/health", headers })).statusCode).toBe(200);
  const delivery = { method: "POST", url: "/webhooks/github", headers } as const;
  expect((await app.inject(delivery)).statusCode).toBe(200);
});

describe("requests that a browser can be tricked into", () => {
  test.each([
    [{ "sec-fetch-site": "same-origin" }, 200],
    [{ origin: "http://localhost:80" }, 200],
    [{ "sec-fetch-site": "cross-site" }, 403],
    [{ "sec-fetch-site": "same-site" }, 403],
    [{ origin: "http://evil.example" }, 403],
    [{ origin: "http://localhost:3000" }, 403],
    [{ origin: "null" }, 403],
    [{}, 403],
  ])("a POST with a session and %j is answered with %i", async (extra, status) => {
    const app = await tcp();
    const headers = { cookie: await logIn(app), host: "localhost", ...extra };
    const response = await app.inject({ method: "POST", url: "/control/pause", headers });
    expect(response.statusCode).toBe(status);
  });

  test("a stream is rejected only if another site requests it", async () => {
    const app = await tcp();
    const cookie = await logIn(app);
    const ask = (headers: Record<string, string>) =>
      app.inject({ method: "HEAD", url: "/dashboard/api/status-stream", headers });
    expect((await ask({ cookie })).statusCode).toBe(200);
    expect((await ask({ cookie, "sec-fetch-site": "cross-site" })).statusCode).toBe(403);
  });

  test("the key needs no origin: programs have none", async () => {
    const app = await tcp();
    const response = await app.inject({ method: "POST", url: "/control/pause", headers: bearer });
    expect(response.statusCode).toBe(200);
  });
});

describe("answers", () => {
  test("a missing path is a 404 problem, and a page for a browser", async () => {
    const app = await tcp();
    const problem = await app.inject({ url: "/nothing" });
    expect(problem.statusCode).toBe(404);
    expect(problem.json()).toMatchObject({ error: "not_found", title: "Not Found" });
    const page = await app.inject({ url: "/<script>", headers: { accept: "text/html" } });
    expect(page.statusCode).toBe(404);
    expect(page.headers["content-type"]).toContain("text/html");
    expect(page.body).not.toContain("There is nothing at /<script>");
  });

  test("a wrong method is a 405 that names the right ones, and so does OPTIONS", async () => {
    const app = await tcp();
    const wrong = await app.inject({ method: "DELETE", url: "/control/pause" });
    expect(wrong.statusCode).toBe(405);
    expect(wrong.headers.allow).toBe("POST, OPTIONS");
    const slash = await app.inject({ method: "DELETE", url: "/control/%70ause/?now" });
    expect(slash.headers.allow).toBe("POST, OPTIONS");
    const options = await app.inject({ method: "OPTIONS", url: "/control/status" });
    expect(options.statusCode).toBe(204);
    expect(options.headers.allow).toBe("GET, HEAD, OPTIONS");
  });

  test("HEAD answers like GET without a body", async () => {
    const response = await (await tcp()).inject({ method: "HEAD", url: "/health" });
    expect(response.statusCode).toBe(200);
    expect(response.body).toBe("");
  });

  test.each([
    "/control/trigger/..%2f..%2fetc",
    "/control/trigger/a%00b",
    "/control/trigger/A%0d%0a",
  ])("%s is not an agent", async (url) => {
    const { post, calls } = await openApp();
    const response = await post(url);
    expect(response.statusCode).toBe(404);
    expect(response.json()).toMatchObject({ error: "unknown_agent" });
    expect(calls).toEqual([]);
  });

  test("a path that can't be decoded is a 400 problem", async () => {
    const response = await (await tcp()).inject({ url: "/control/%zz", headers: bearer });
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({ error: "malformed" });
  });

  test("an unexpected error is a 500 without details, which are logged", async () => {
    const { post, deps } = await openApp();
    deps.operations.setPaused = () => Promise.reject(new Error("disk on fire"));
    const response = await post("/control/pause");
    expect(response.statusCode).toBe(500);
    expect(response.body).not.toContain("fire");
    expect(deps.lines.join()).toContain("50 POST /control/pause failed: Error: disk on fire");
  });

  test("pages run only their own scripts and can't be framed", async () => {
    const { headers, body } = await (await tcp()).inject({ url: "/login" });
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    const sourceOf = (text = "") =>
      `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    const texts = (tag: string) =>
      [...body.matchAll(new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`, "g"))].map(([, text]) => text);
    expect(policy).toContain(`script-src ${texts("script").map(sourceOf).join(" ")};`);
    expect(policy).toContain(`style-src ${texts("style").map(sourceOf).join(" ")};`);
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["referrer-policy"]).toBe("same-origin");
    expect(headers["strict-transport-security"]).toBeUndefined();
  });

  test.each(["/health", "/control/status", "/nothing"])(
    "%s may load and run nothing",
    async (url) => {
      const { headers } = await (await tcp()).inject({ url });
      expect(headers).toMatchObject({
        "content-security-policy": "default-src 'none';frame-ancestors 'none'",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "same-origin",
        "x-content-type-options": "nosniff",
      });
    },
  );

  test("without --web-ui there is no dashboard, yet all of the API", async () => {
    const app = await tcp({ dashboard: false });
    const headers = { ...bearer, accept: "text/html" };
    expect((await app.inject({ url: "/dashboard", headers })).statusCode).toBe(404);
    const stream = { method: "HEAD", url: "/dashboard/api/status-stream", headers } as const;
    expect((await app.inject(stream)).statusCode).toBe(200);
  });

  test("the operator's socket serves the API with the key only, and no page", async () => {
    const { app } = await openApp({}, operatorApp);
    const host = "whatever.example";
    const ask = (url: string, headers: Record<string, string>) =>
      app.inject({ url, headers: { host, ...headers } });
    expect((await ask("/control/status", bearer)).statusCode).toBe(200);
    expect((await ask("/control/status", { accept: "text/html" })).statusCode).toBe(401);
    expect((await ask("/control/status", {})).statusCode).toBe(401);
    expect((await ask("/login", {})).statusCode).toBe(404);
    expect((await ask("/dashboard", bearer)).statusCode).toBe(404);
    expect((await ask("/nothing", { accept: "text/html" })).statusCode).toBe(404);
  });
});
