import { operatorApp, tcpApp } from "../../../src/interfaces/gateway/app.ts";
import { scopes, type Scope } from "../../../src/foundation/contracts/scopes.ts";
import { readStream } from "./event-stream.ts";
import { openApp, startTcp, testDeps } from "./start-gateway.ts";
import { decisions, ofBoth } from "./token-decisions.ts";
import { twoAgents } from "./two-agents.ts";

interface Described {
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}

/** The routes of both servers that need the key, as their description has them. */
async function describedRoutes(): Promise<ReadonlyMap<string, Described>> {
  const found = new Map<string, Described>();
  for (const makeApp of [tcpApp, operatorApp]) {
    const { get } = await openApp({}, makeApp);
    const { paths } = (await get("/openapi.json")).json<{
      paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
    }>();
    const all = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(
        ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
      ),
    );
    for (const [route, operation] of all) {
      if (operation.security.length > 0) found.set(route, operation);
    }
  }
  return found;
}

const isScript = (route: string): boolean => /\.js$|worker/.test(route);

test("the decision about each route is written down, and the API's description names its scope", async () => {
  const routes = await describedRoutes();
  const written = [...routes.keys()].filter((route) => !isScript(route));
  expect(written.sort()).toEqual(Object.keys(decisions).sort());
  for (const [route, { scope }] of Object.entries(decisions)) {
    const given = routes.get(route)?.security.flatMap(({ token }) => (token ? [token] : []));
    const named = scope === "any" ? [] : [scope];
    expect([route, given]).toEqual([route, scope === null ? [] : [named]]);
  }
});

const isOnSocket = (route: string): boolean => route === "POST /control/login-link";

/** Requests with tokens and with the key to one of the two servers. */
async function opened(route: string, operations = twoAgents()) {
  const started = await openApp({ operations }, isOnSocket(route) ? operatorApp : tcpApp);
  const [method = ""] = route.split(" ");
  let made = 0;
  /** The problem's code, or the status; a stream is only begun. */
  const ask = async (url: string, authorization: string | undefined, payload: object = {}) => {
    const isStream = url.includes("stream");
    const response = await started.app.inject({
      method: isStream ? "HEAD" : method === "POST" ? "POST" : "GET",
      url,
      ...(method === "POST" ? { payload } : {}),
      headers: authorization === undefined ? {} : { authorization: `Bearer ${authorization}` },
    });
    const isForbidden = isStream
      ? response.statusCode === 403
      : response.body.includes('"error":"forbidden"');
    return { isForbidden, body: response.body, status: response.statusCode };
  };
  const tokenWith = async (given: readonly Scope[], agents: string[] | null) => {
    const name = `t${++made}`;
    const all = { name, scopes: [...given], agents, days: 1 };
    return (await started.deps.tokens.create(all)).token;
  };
  return { ...started, ask, tokenWith };
}

test.each(Object.entries(decisions))(
  "the scopes of a token decide: %s",
  async (route, decision) => {
    const { scope, mine = [], others = [], body } = decision;
    const { ask, tokenWith } = await opened(route);
    const [url = ""] = [...mine, ...others];
    for (const only of scopes) {
      const without = await tokenWith(
        scopes.filter((one) => one !== only),
        null,
      );
      const answer = await ask(url, without, body);
      expect([only, answer.isForbidden]).toEqual([only, scope === null || scope === only]);
      if (scope === only && !url.includes("stream"))
        expect(answer.body).toContain(`lacks the scope ${scope}`);
      const alone = await ask(url, await tokenWith([only], null), body);
      expect([only, alone.isForbidden]).toEqual([only, scope !== only && scope !== "any"]);
    }
  },
);

test.each(Object.entries(decisions))(
  "the agents of a token decide: %s",
  async (route, decision) => {
    const { scope, mine = [], others = [], body } = decision;
    const { ask, tokenWith } = await opened(route);
    for (const [urls, isMine] of [
      [mine, true],
      [others, false],
    ] as const) {
      for (const url of urls) {
        const limited = await ask(url, await tokenWith(scopes, ["dev"]), body);
        expect([url, limited.isForbidden]).toEqual([url, !isMine || scope === null]);
        expect(limited.body.replaceAll(url, "")).not.toContain("zebra");
        const free = await ask(url, await tokenWith(scopes, null), body);
        expect([url, free.isForbidden]).toEqual([url, scope === null]);
      }
    }
  },
);

test.each(Object.entries(decisions))(
  "access without a token, and with the key: %s",
  async (route, decision) => {
    const { mine = [], others = [], body } = decision;
    const { ask, deps } = await opened(route);
    const [url = ""] = [...mine, ...others];
    const isOpen = (await ask(url, undefined, body)).status !== 401;
    expect(isOpen).toBe(false);
    expect((await ask(url, `al_${"x".repeat(43)}`, body)).status).toBe(401);
    expect((await ask(url, deps.apiKey(), body)).isForbidden).toBe(false);
  },
);

test("a token that is limited to agents acknowledges their alerts only", async () => {
  const { ask, tokenWith } = await opened("POST /api/alerts/ack");
  const token = await tokenWith(["control"], ["dev"]);
  for (const agent of ["dev", "zebra", null]) {
    const { isForbidden } = await ask("/api/alerts/ack", token, { agent });
    expect([agent, isForbidden]).toEqual([agent, agent !== "dev"]);
  }
});

test("the answers for a limited token have the rows about its agents", async () => {
  const { ask, tokenWith } = await opened("GET /api/alerts");
  const token = await tokenWith(["read"], ["dev"]);
  const read = async (url: string): Promise<unknown> => JSON.parse((await ask(url, token)).body);
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
  const operations = twoAgents();
  const deps = testDeps({ operations });
  const url = await startTcp(deps);
  const asked = { name: "claude", scopes: ["read" as const], agents: ["dev"], days: 1 };
  const { token } = await deps.tokens.create(asked);
  const stream = await readStream(`${url}/dashboard/api/status-stream`, {
    authorization: `Bearer ${token}`,
  });
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
  await deps.tokens.remove("claude");
  await expect.poll(() => stream.isEnded()).toBe(true);
});

test("the log stream of a limited token leaves out callers, and one with the key has them", async () => {
  const deps = testDeps({ operations: twoAgents() });
  const url = await startTcp(deps);
  const asked = { name: "claude", scopes: ["read" as const], agents: ["dev"], days: 1 };
  const { token } = await deps.tokens.create(asked);
  const trigger = { kind: "agent-call", callerInstance: "zebra-abcdefgh" };
  const line = { agent: "dev", instanceId: "dev-abcdefgh", msg: "run started by a call" };
  deps.logs.write({ ...line, trigger });
  for (const [key, caller] of [
    [token, null],
    [deps.apiKey(), "zebra-abcdefgh"],
  ] as const) {
    const stream = await readStream(`${url}/api/logs/stream?instance=dev-abcdefgh`, {
      authorization: `Bearer ${key}`,
    });
    await expect.poll(() => stream.events().length).toBe(1);
    expect(stream.events()[0]?.data).toMatchObject({ trigger: { callerInstance: caller } });
  }
});

test("a token is no key: it does not log in, and wrong ones are limited as wrong keys are", async () => {
  const { app, deps, ask, tokenWith } = await opened("GET /api/alerts");
  const token = await tokenWith(scopes, null);
  const login = await app.inject({ method: "POST", url: "/login", payload: { key: token } });
  expect(login.statusCode).toBe(401);
  const guesses = Array.from({ length: 220 }, (_, n) => `al_${n}${"x".repeat(40)}`);
  const answers = await Promise.all(guesses.map((guess) => ask("/api/alerts", guess)));
  expect(answers.at(-1)?.status).toBe(429);
  expect((await ask("/api/alerts", token)).status).toBe(429);
  expect(deps.lines.join()).not.toContain("al_");
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
  const operations = new Proxy(twoAgents(), {
    get: (target, key) => {
      const found: unknown = Reflect.get(target, key);
      if (typeof found !== "function") return found;
      return (...given: unknown[]): unknown => withCostlyTexts(Reflect.apply(found, target, given));
    },
  });
  const answered = new Set<string>();
  for (const [route, { scope, mine: [url] = [], body }] of Object.entries(decisions)) {
    if (scope === null || url === undefined || url.includes("stream")) continue;
    const { ask, tokenWith, deps } = await opened(route, operations);
    deps.logs.write({ agent: "dev", msg: costly });
    for (const agents of [null, ["dev"]]) {
      const token = await tokenWith(scope === "any" ? scopes : [scope], agents);
      const { user } = process.cpuUsage();
      const answer = await ask(url, token, body);
      expect([url, process.cpuUsage().user - user < 10_000_000]).toEqual([url, true]);
      if (answer.body.includes(costly) && agents !== null) answered.add(route);
    }
  }
  const paged = ["/control/status", "/api/logs/agents/{name}", "/api/questions", "/api/alerts"];
  for (const path of ["/api/runs/{instanceId}", "/api/audit", ...paged]) {
    expect(answered).toContain(`GET ${path}`);
  }
}, 300_000);
