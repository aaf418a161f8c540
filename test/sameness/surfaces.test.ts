import { scopes, type Scope } from "../../src/foundation/contracts/scopes.ts";
import { operatorApp, tcpApp } from "../../src/interfaces/gateway/app.ts";
import type { OpenApi } from "../../src/interfaces/gateway/api/openapi.ts";
import { operations } from "../../src/interfaces/operations/table.ts";
import { apiKey, openApp, testDeps } from "../interfaces/gateway/start-gateway.ts";
import { twoAgents } from "../interfaces/gateway/two-agents.ts";
import { fill } from "../interfaces/gateway/routes/api-samples.ts";
import { decisions, isFor, requests, requestTo } from "./fixture-lines.ts";

// `vitest run <this file> -u` writes the fixtures anew: each difference is a decision. A new request is a line without
// its answer.
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const lines = (values: readonly unknown[]) =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");

test("the API's description equals the fixture openapi.json", async () => {
  const { get } = await openApp();
  const described = json((await get("/openapi.json")).json());
  await expect(described).toMatchFileSnapshot("openapi.json");
});

test("the tools of the MCP server equal the fixture mcp-tools.json", async () => {
  const { post } = await openApp();
  const payload = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  const headers = { accept: "application/json, text/event-stream" };
  const [, listed = ""] =
    /^data: (.*)$/m.exec((await post("/mcp", { payload, headers })).body) ?? [];
  await expect(json(JSON.parse(listed))).toMatchFileSnapshot("mcp-tools.json");
});

test("each API token gets for each request the status in the fixture token-decisions.jsonl, and none about another agent", async () => {
  const deps = testDeps({ operations: twoAgents() });
  const apps = { tcp: await tcpApp(deps), socket: await operatorApp(deps) };
  onTestFinished(async () => void (await Promise.all([apps.tcp.close(), apps.socket.close()])));
  const tokenOf = async (name: string, given: readonly Scope[], agents: string[] | null = null) => {
    const wanted = { name, scopes: [...given], agents, days: 1 };
    return [name, (await deps.context.tokens.create(wanted)).token] as const;
  };
  const callers = [
    ...(await Promise.all(scopes.map((scope) => tokenOf(scope, [scope])))),
    await tokenOf("all", scopes),
    await tokenOf("all-of-dev", scopes, ["dev"]),
    ["key", apiKey],
    ["nobody", null],
  ] as const;
  const answers: unknown[] = [];
  for (const [route, url] of decisions) {
    const app = route === "POST /control/login-link" ? apps.socket : apps.tcp;
    const statuses: Record<string, number> = {};
    const lacked = new Set<string | undefined>();
    for (const [name, secret] of callers) {
      const headers = secret === null ? {} : { authorization: `Bearer ${secret}` };
      const { statusCode, body } = await app.inject({ ...requestTo(route, url), headers });
      statuses[name] = statusCode;
      lacked.add(/lacks the scope (\w+)/.exec(body)?.[1]);
      const others = name === "all-of-dev" && body.replaceAll(url, "").includes("zebra");
      expect([url, others]).toEqual([url, false]);
    }
    const { key, nobody, ...ofTokens } = statuses;
    const scope = scopeOf(ofTokens);
    const isNamed = scope !== null && scope !== "any" && !url.includes("stream");
    expect([url, nobody, key === 403, [...lacked].join("")]).toEqual([
      url,
      401,
      false,
      isNamed ? scope : "",
    ]);
    answers.push([route, url, ofTokens]);
  }
  await expect(lines(answers)).toMatchFileSnapshot("token-decisions.jsonl");
});

/** The scope that opens a route: null if no token does, `any` if each does. */
function scopeOf(statuses: Readonly<Record<string, number>>): Scope | "any" | null {
  const open = scopes.filter((scope) => statuses[scope] !== 403);
  return open.length === scopes.length ? "any" : (open[0] ?? null);
}

test("the fixture token-decisions.jsonl has each route, and the API's description names its scope", async () => {
  const described = new Map<string, readonly unknown[]>();
  for (const make of [tcpApp, operatorApp]) {
    const { get } = await openApp({}, make);
    const { paths } = (await get("/openapi.json")).json<OpenApi>();
    const closed = Object.entries(paths)
      .filter(([path]) => !/\.js$|worker/.test(path))
      .flatMap(([path, byMethod]) =>
        Object.entries(byMethod).map(
          ([method, { security }]) => [`${method.toUpperCase()} ${path}`, security] as const,
        ),
      )
      .filter(([, security]) => security.length > 0);
    for (const [route, security] of closed) described.set(route, security);
  }
  const decided = decisions.map(([route, , statuses]) => [route, scopeOf(statuses)] as const);
  expect([...described.keys()].sort()).toEqual([...new Map(decided).keys()].sort());
  for (const [route, scope] of decided) {
    const token = scope === null ? [] : [{ token: scope === "any" ? [] : [scope] }];
    expect([route, described.get(route)?.filter((one) => "token" in (one as object))]).toEqual([
      route,
      token,
    ]);
  }
});

test("the HTTP API answers each recorded request as in operations.jsonl, and the audit trail records each change as in audit.jsonl", async () => {
  const [answers, audited]: [unknown[], unknown[]] = [[], []];
  for (const [request, payload] of requests) {
    const opened = await openApp({}, operatorApp);
    await fill(opened);
    const [method, url = ""] = request.split(" ");
    const asked = { method: method as "GET", ...(payload && { payload }) };
    const { statusCode, body } = await opened.get(url, asked);
    const acts = opened.operations.acts.map((act) => ({ ...act, at: null }));
    // A stop begins once its answer has been sent.
    await opened.app.close();
    answers.push([request, payload, statusCode, JSON.parse(settled(body)), opened.calls]);
    if (statusCode < 300 && method === "POST") audited.push([request, payload, acts]);
    else expect([request, acts]).toEqual([request, []]);
  }
  await expect(lines(audited)).toMatchFileSnapshot("audit.jsonl");
  await expect(lines(answers)).toMatchFileSnapshot("operations.jsonl");
});

/** An answer without its times and secrets, which differ from run to run. */
function settled(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/al_[\w-]{20,}|(?<=login\/)[\w-]+/g, "<secret>");
}

test("each operation has a request in the fixture operations.jsonl", () => {
  const routes = operations.map(({ address }) =>
    address.replace(/\?.*/, "").replaceAll(/:(\w+)/g, "{$1}"),
  );
  const missing = routes.filter((route) => !requests.some(([request]) => isFor(route, request)));
  expect(missing).toEqual([]);
});
