import type { FastifyInstance } from "fastify";
import { operatorApp, tcpApp } from "../../../src/interfaces/gateway/app.ts";
import { scopes, type Scope } from "../../../src/foundation/contracts/scopes.ts";
import { readStream } from "./event-stream.ts";
import { openApp, startTcp, testDeps, type TestDeps } from "./start-gateway.ts";
import { decisions, requestTo } from "../../sameness/fixture-lines.ts";
import { ofBoth, twoAgents } from "./two-agents.ts";

interface Described {
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}

/** The routes of both servers that need the key, as their description has them. */
async function describedRoutes(): Promise<ReadonlyMap<string, Described>> {
  const found = new Map<string, Described>();
  for (const app of [tcp, socket]) {
    const headers = { authorization: `Bearer ${deps.apiKey()}` };
    const { paths } = (await app.inject({ url: "/openapi.json", headers })).json<{
      paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
    }>();
    const described = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
    );
    for (const { path, method, operation } of described) {
      const isScript = /\.js$|worker/.test(path);
      if (operation.security.length === 0 || isScript) continue;
      found.set(`${method.toUpperCase()} ${path}`, operation);
    }
  }
  return found;
}

let deps: TestDeps;
let tcp: FastifyInstance;
let socket: FastifyInstance;
const tokens = new Map<string, string>();

/** A token for all agents with these scopes, or with all of them for the agent `dev`. */
async function tokenWith(given: readonly Scope[], agents: string[] | null = null) {
  const name = [...given, ...(agents ?? [])].join("-");
  const made = tokens.get(name);
  if (made !== undefined) return made;
  const { token } = await deps.context.tokens.create({ name, scopes: [...given], agents, days: 1 });
  tokens.set(name, token);
  return token;
}

// The routes share two servers: a decision depends on no request before it.
beforeAll(async () => {
  deps = testDeps({ operations: twoAgents() });
  [tcp, socket] = await Promise.all([tcpApp(deps), operatorApp(deps)]);
  return async () => {
    await Promise.all([tcp.close(), socket.close()]);
    tokens.clear();
  };
});

/** The scope that opens a route: null if no token does, `any` if each does. */
function scopeOf(route: string): Scope | "any" | null {
  const [, , statuses = {}] = decisions.find(([one]) => one === route) ?? [];
  const open = scopes.filter((scope) => statuses[scope] !== 403);
  return open.length === scopes.length ? "any" : (open[0] ?? null);
}

test("token-decisions.jsonl has each route, and the API's description names its scope", async () => {
  const routes = await describedRoutes();
  expect([...routes.keys()].sort()).toEqual([...new Set(decisions.map(([one]) => one))].sort());
  for (const [route, { security }] of routes) {
    const given = security.flatMap(({ token }) => (token ? [token] : []));
    const scope = scopeOf(route);
    expect([route, given]).toEqual([route, scope === null ? [] : [scope === "any" ? [] : [scope]]]);
  }
});

/** The answer to a route's request; a stream is only begun. */
async function ask(route: string, url: string, authorization?: string) {
  const app = route === "POST /control/login-link" ? socket : tcp;
  const headers = authorization === undefined ? {} : { authorization: `Bearer ${authorization}` };
  const { body, statusCode } = await app.inject({ ...requestTo(route, url), headers });
  return { body, status: statusCode };
}

test("each route needs the key or a token with its scope, and answers a token for the agent dev about dev only", async () => {
  for (const [route, url, { "all-of-dev": status }] of decisions) {
    const scope = scopeOf(route);
    const without = await ask(route, url, await tokenWith(scopes.filter((one) => one !== scope)));
    const limited = await ask(route, url, await tokenWith(scopes, ["dev"]));
    expect({
      url,
      nobody: (await ask(route, url)).status,
      isKeyRefused: (await ask(route, url, deps.apiKey())).body.includes('"forbidden"'),
      lacks: /lacks the scope \w+/.exec(without.body)?.[0],
      isLimited: limited.status === 403,
      namesOthers: limited.body.replaceAll(url, "").includes("zebra"),
    }).toEqual({
      url,
      nobody: 401,
      isKeyRefused: false,
      lacks:
        scope === null || scope === "any" || url.includes("stream")
          ? undefined
          : `lacks the scope ${scope}`,
      isLimited: status === 403,
      namesOthers: false,
    });
  }
});

/** An own server, and requests to it with a token that may read about the agent `dev`. */
async function opened(given: readonly Scope[] = ["read"]) {
  const started = await openApp({ operations: twoAgents() });
  const wanted = { name: "claude", scopes: [...given], agents: ["dev"], days: 1 };
  const { token } = await started.deps.context.tokens.create(wanted);
  const headers = { authorization: `Bearer ${token}` };
  const send = (method: "GET" | "POST", url: string, payload?: object) =>
    started.app.inject({ method, url, headers, ...(payload && { payload }) });
  return { ...started, token, send };
}

test.each([
  ["dev", 200],
  ["zebra", 403],
  [null, 403],
])("a token for the agent dev that acknowledges alerts of %s gets %i", async (agent, status) => {
  const { send } = await opened(["control"]);
  expect((await send("POST", "/api/alerts/ack", { agent })).statusCode).toBe(status);
});

test("an unknown API token is rejected, and a known one does not log in", async () => {
  const { app, token } = await opened(scopes);
  const headers = { authorization: `Bearer al_${"x".repeat(43)}` };
  expect((await app.inject({ url: "/api/alerts", headers })).statusCode).toBe(401);
  const login = await app.inject({ method: "POST", url: "/login", payload: { key: token } });
  expect(login.statusCode).toBe(401);
});

test("the answers for a token of the agent dev have only rows about dev", async () => {
  const { send } = await opened();
  const read = async (url: string) => (await send("GET", url)).json<object>();
  expect(await read("/control/status")).toMatchObject({
    agents: [{ name: "dev" }],
    recentLogs: [{ agent: "dev" }],
    locks: [{ agent: "dev" }],
    scheduler: { cronJobs: 1, questions: 2, alerts: { open: 1 }, warnings: [] },
  });
  expect(await read("/api/alerts")).toMatchObject({
    targets: [],
    open: [{ agent: "dev" }],
    deliveries: [{ agent: "dev" }],
  });
  expect(await read("/api/stats/triggers")).toMatchObject({
    triggers: [{ id: "t-dev", source: null, caller: null, reason: "after another run" }],
  });
  expect(await read("/api/runs/dev-abcdefgh")).toMatchObject({
    source: null,
    calls: { received: { caller: null, callerInstance: null }, made: [{ id: "t-dev" }] },
  });
  expect(await read(`/api/stats/webhooks/${ofBoth}`)).toMatchObject({ matched: ["dev"] });
  expect(await read("/api/spend")).toMatchObject({ limits: [{ scope: "agent:dev" }] });
  expect(await read("/locks/status")).toMatchObject({ locks: [{ agent: "dev" }] });
});

test("the status stream of a limited token is about its agents, and ends with the token", async () => {
  const { deps: own, operations, token } = await opened();
  const url = `${await startTcp(own)}/dashboard/api/status-stream`;
  const stream = await readStream(url, { authorization: `Bearer ${token}` });
  await expect.poll(() => stream.events().length).toBe(1);
  operations.setAgent({ name: "zebra", running: 1 });
  operations.addLog({ agent: "zebra", msg: "no" });
  operations.removeAgent("zebra");
  operations.setAgent({ name: "dev", running: 2 });
  operations.setScheduler({ paused: true });
  await expect.poll(() => stream.events().length).toBe(3);
  const [snapshot, agent, scheduler] = stream.events();
  expect(snapshot).toMatchObject({ event: "snapshot", data: { agents: [{ name: "dev" }] } });
  expect(agent).toMatchObject({ event: "update", data: { agents: [{ running: 2 }] } });
  expect(scheduler).toMatchObject({ data: { scheduler: { paused: true, running: 2 } } });
  expect(stream.text()).not.toContain("zebra");
  await own.context.tokens.remove("claude");
  await expect.poll(() => stream.isEnded()).toBe(true);
});

test("the log stream of a limited token leaves out callers, and one with the key has them", async () => {
  const { deps: own, token } = await opened();
  const url = `${await startTcp(own)}/api/logs/stream?instance=dev-abcdefgh`;
  const trigger = { kind: "agent-call", callerInstance: "zebra-abcdefgh" };
  const line = { agent: "dev", instanceId: "dev-abcdefgh", msg: "run started by a call" };
  own.logs.write({ ...line, trigger });
  for (const [key, caller] of [
    [token, null],
    [own.apiKey(), "zebra-abcdefgh"],
  ] as const) {
    const stream = await readStream(url, { authorization: `Bearer ${key}` });
    await expect.poll(() => stream.events().length).toBe(1);
    expect(stream.events()[0]?.data).toMatchObject({ trigger: { callerInstance: caller } });
  }
});

/** An expression that begins again at each letter takes minutes for one such text. */
const costly = ["-aaaaaaa", "a", "-"]
  .map((piece) => piece.repeat(131_072 / piece.length))
  .join(" ");

/** Names, ids and times decide what is answered. */
const isKept =
  /(agents?|names?|id|caller|callerinstance|matched|gates|at|since|until|time|for|scope)$/i;

/** Answers of operations, or a part of them, with a costly text in place of each other text. */
function withCostlyTexts<T>(given: T, key = ""): T {
  if (typeof given === "string") return (isKept.test(key) ? given : costly) as T;
  if (Array.isArray(given)) return given.map((one: unknown) => withCostlyTexts(one, key)) as T;
  if (typeof given !== "object" || given === null) return given;
  const entries = Object.entries(given as Record<string, unknown>).map(
    ([name, one]) => [name, withCostlyTexts(one, name)] as const,
  );
  return Object.fromEntries(entries) as T;
}

test("long texts in the answers to each kind of token take time in proportion to their length", async () => {
  const operations = twoAgents();
  const rows = operations.rows.map((row) => ({
    ...row,
    perform: async (...given: Parameters<typeof row.perform>) =>
      withCostlyTexts(await row.perform(...given)),
  }));
  const { app, deps: own } = await openApp({ operations, rows });
  own.logs.write({ agent: "dev", msg: costly });
  const answered = new Set<string>();
  const asked = decisions.filter(
    ([route, url, statuses], at) =>
      statuses["all-of-dev"] !== 403 && !url.includes("stream") && decisions[at - 1]?.[0] !== route,
  );
  for (const agents of [null, ["dev"]]) {
    const wanted = { name: String(agents), scopes: [...scopes], agents, days: 1 };
    const { token } = await own.context.tokens.create(wanted);
    const headers = { authorization: `Bearer ${token}` };
    for (const [route, url] of asked) {
      const { user } = process.cpuUsage();
      const answer = await app.inject({ ...requestTo(route, url), headers });
      expect([url, process.cpuUsage().user - user < 10_000_000]).toEqual([url, true]);
      if (answer.body.includes(costly) && agents !== null) answered.add(route);
    }
  }
  const paged = ["/control/status", "/api/logs/agents/{name}", "/api/questions", "/api/alerts"];
  for (const path of ["/api/runs/{instanceId}", "/api/audit", ...paged]) {
    expect(answered).toContain(`GET ${path}`);
  }
}, 300_000);
