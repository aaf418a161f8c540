import { scopes, type Scope } from "../../../src/foundation/contracts/scopes.ts";
import { readStream } from "./event-stream.ts";
import { openApp, startTcp } from "./start-gateway.ts";
import { decisions, requestTo } from "../../sameness/fixture-lines.ts";
import { ofBoth, twoAgents } from "./two-agents.ts";

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
