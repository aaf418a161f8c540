import type { FastifyInstance } from "fastify";
import { operatorApp, tcpApp } from "../../../src/interfaces/gateway/app.ts";
import { scopes, type Scope } from "../../../src/foundation/contracts/scopes.ts";
import { readStream } from "./event-stream.ts";
import { openApp, startTcp, testDeps, type TestDeps } from "./start-gateway.ts";
import { decisions, ofBoth } from "./token-decisions.ts";
import { twoAgents } from "./two-agents.ts";

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

test("token-decisions.ts has each route, and the API's description names its scope", async () => {
  const routes = await describedRoutes();
  expect([...routes.keys()].sort()).toEqual(Object.keys(decisions).sort());
  for (const [route, { scope }] of Object.entries(decisions)) {
    const given = routes.get(route)?.security.flatMap(({ token }) => (token ? [token] : []));
    const named = scope === "any" ? [] : [scope];
    expect([route, given]).toEqual([route, scope === null ? [] : [named]]);
  }
});

/** The answer to a route's request; a stream is only begun. */
async function ask(route: string, url: string, authorization?: string) {
  const isStream = url.includes("stream");
  const [method = ""] = route.split(" ");
  const app = route === "POST /control/login-link" ? socket : tcp;
  const { body, statusCode } = await app.inject({
    method: isStream ? "HEAD" : method,
    url,
    ...(method === "POST" && { payload: decisions[route]?.body ?? {} }),
    headers: authorization === undefined ? {} : { authorization: `Bearer ${authorization}` },
  });
  const isForbidden = isStream ? statusCode === 403 : body.includes('"error":"forbidden"');
  return { isForbidden, body, status: statusCode };
}

describe.each(Object.entries(decisions))("%s", (route, { scope, mine = [], others = [] }) => {
  const [url = ""] = [...mine, ...others];

  test("accepts only tokens with its scope", async () => {
    for (const only of scopes) {
      const without = await tokenWith(scopes.filter((one) => one !== only));
      const answer = await ask(route, url, without);
      expect([only, answer.isForbidden]).toEqual([only, scope === null || scope === only]);
      if (scope === only && !url.includes("stream"))
        expect(answer.body).toContain(`lacks the scope ${scope}`);
      const alone = await ask(route, url, await tokenWith([only]));
      expect([only, alone.isForbidden]).toEqual([only, scope !== only && scope !== "any"]);
    }
  });

  test.each([
    ...mine.map((one) => [scope === null ? "rejects" : "accepts", one] as const),
    ...others.map((one) => ["rejects", one] as const),
  ])("%s a token for the agent dev at %s", async (does, asked) => {
    const limited = await ask(route, asked, await tokenWith(scopes, ["dev"]));
    expect(limited.isForbidden).toBe(does === "rejects");
    expect(limited.body.replaceAll(asked, "")).not.toContain("zebra");
    const free = await ask(route, asked, await tokenWith(scopes));
    expect(free.isForbidden).toBe(scope === null);
  });

  test("needs a key or a token", async () => {
    expect((await ask(route, url)).status).toBe(401);
    expect((await ask(route, url, deps.apiKey())).isForbidden).toBe(false);
  });
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
  if (given instanceof Promise) return given.then((one: unknown) => withCostlyTexts(one)) as T;
  if (typeof given !== "object" || given === null || given instanceof Map) return given;
  const entries = Object.entries(given as Record<string, unknown>).map(
    ([name, one]) => [name, withCostlyTexts(one, name)] as const,
  );
  return Object.fromEntries(entries) as T;
}

test("long texts in the answers to each kind of token take time in proportion to their length", async () => {
  const answering = <Service extends object>(service: Service): Service =>
    new Proxy(service, {
      get: (target, key) => {
        const found: unknown = Reflect.get(target, key);
        if (typeof found !== "function") return found;
        return (...given: unknown[]): unknown =>
          withCostlyTexts(Reflect.apply(found, target, given));
      },
    });
  const real = twoAgents();
  const operations = answering(real);
  const { alerts, questions, audit } = real.context;
  const services = { alerts, questions, audit, runs: operations, files: operations };
  for (const [name, service] of Object.entries(services)) {
    Object.assign(real.context, { [name]: answering<object>(service) });
  }
  const { app, deps: own } = await openApp({ operations });
  own.logs.write({ agent: "dev", msg: costly });
  const answered = new Set<string>();
  const asked = Object.entries(decisions).flatMap(([route, { scope, mine = [], body = {} }]) => {
    const [url = "stream"] = mine;
    return scope === null || url.includes("stream") ? [] : [{ route, url, body }];
  });
  for (const agents of [null, ["dev"]]) {
    const wanted = { name: String(agents), scopes: [...scopes], agents, days: 1 };
    const { token } = await own.context.tokens.create(wanted);
    const headers = { authorization: `Bearer ${token}` };
    for (const { route, url, body } of asked) {
      const [method = ""] = route.split(" ");
      const payload = method === "POST" && { payload: body };
      const { user } = process.cpuUsage();
      const answer = await app.inject({ method: method as "GET", url, headers, ...payload });
      expect([url, process.cpuUsage().user - user < 10_000_000]).toEqual([url, true]);
      if (answer.body.includes(costly) && agents !== null) answered.add(route);
    }
  }
  const paged = ["/control/status", "/api/logs/agents/{name}", "/api/questions", "/api/alerts"];
  for (const path of ["/api/runs/{instanceId}", "/api/audit", ...paged]) {
    expect(answered).toContain(`GET ${path}`);
  }
}, 300_000);
