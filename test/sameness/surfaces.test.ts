import { scopes, type Scope } from "../../src/foundation/contracts/scopes.ts";
import { operatorApp, tcpApp } from "../../src/interfaces/gateway/app.ts";
import { operations } from "../../src/interfaces/operations/table.ts";
import { openApp, testDeps } from "../interfaces/gateway/start-gateway.ts";
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

test("each API token gets for each request the status in the fixture token-decisions.jsonl", async () => {
  const deps = testDeps({ operations: twoAgents() });
  const apps = { tcp: await tcpApp(deps), socket: await operatorApp(deps) };
  onTestFinished(async () => void (await Promise.all([apps.tcp.close(), apps.socket.close()])));
  const tokenOf = async (name: string, given: readonly Scope[], agents: string[] | null) =>
    [
      name,
      (await deps.context.tokens.create({ name, scopes: [...given], agents, days: 1 })).token,
    ] as const;
  const tokens = await Promise.all([
    ...scopes.map((scope) => tokenOf(scope, [scope], null)),
    tokenOf("all", scopes, null),
    tokenOf("all-of-dev", scopes, ["dev"]),
  ]);
  const answers: unknown[] = [];
  for (const [route, url] of decisions) {
    const app = route === "POST /control/login-link" ? apps.socket : apps.tcp;
    const statuses: Record<string, number> = {};
    for (const [name, token] of tokens) {
      const headers = { authorization: `Bearer ${token}` };
      statuses[name] = (await app.inject({ ...requestTo(route, url), headers })).statusCode;
    }
    answers.push([route, url, statuses]);
  }
  await expect(lines(answers)).toMatchFileSnapshot("token-decisions.jsonl");
});

test("each request is answered as in the fixture operations.jsonl, and audited as in audit.jsonl", async () => {
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
