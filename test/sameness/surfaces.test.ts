import { scopes, type Scope } from "../../src/foundation/contracts/scopes.ts";
import { operatorApp, tcpApp } from "../../src/interfaces/gateway/app.ts";
import { openApp, testDeps } from "../interfaces/gateway/start-gateway.ts";
import { decisions } from "../interfaces/gateway/token-decisions.ts";
import { twoAgents } from "../interfaces/gateway/two-agents.ts";
import { rows } from "../interfaces/gateway/routes/api-rows.ts";
import { fill } from "../interfaces/gateway/routes/api-samples.ts";

// `vitest run <this file> -u` writes the fixtures anew: each difference is a decision.
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
  for (const [route, { mine = [], others = [], body = {} }] of Object.entries(decisions)) {
    const [verb = ""] = route.split(" ");
    const app = route === "POST /control/login-link" ? apps.socket : apps.tcp;
    for (const url of [...mine, ...others]) {
      const method = url.includes("stream") ? "HEAD" : (verb as "GET");
      const payload = verb === "POST" && { payload: body };
      const statuses: Record<string, number> = {};
      for (const [name, token] of tokens) {
        const headers = { authorization: `Bearer ${token}` };
        statuses[name] = (await app.inject({ method, url, headers, ...payload })).statusCode;
      }
      answers.push([route, url, statuses]);
    }
  }
  await expect(lines(answers)).toMatchFileSnapshot("token-decisions.jsonl");
});

test("each change adds to the audit trail the entry in the fixture audit.jsonl", async () => {
  const entries: unknown[] = [];
  for (const [request, { payload }] of rows) {
    const opened = await openApp({}, operatorApp);
    await fill(opened);
    const [method, url = ""] = request.split(" ");
    await opened.get(url, { method: method as "GET", ...(payload && { payload }) });
    const acts = opened.operations.acts.map((act) => ({ ...act, at: null }));
    if (method === "POST") entries.push([request, payload ?? null, acts]);
  }
  await expect(lines(entries)).toMatchFileSnapshot("audit.jsonl");
});
