import type { FastifyInstance, InjectOptions } from "fastify";
import { NEVER } from "rxjs";
import { tcpApp } from "../../../src/interfaces/gateway/app.ts";
import type { GatewayDeps } from "../../../src/interfaces/gateway/deps.ts";
import { createAnswerLinks } from "../../../src/features/people/answer-links.ts";
import { createLoginLinks } from "../../../src/interfaces/gateway/login-links.ts";
import { createMetrics } from "../../../src/interfaces/gateway/metrics.ts";
import { createGateway } from "../../../src/interfaces/gateway/server.ts";
import { fakeOperations, type FakeOperations } from "../../helpers/fake-operations.ts";
import { memoryLogs, type MemoryLogs } from "../../helpers/memory-logs.ts";
import { memorySessions } from "../../helpers/memory-sessions.ts";

export const apiKey = "test-key-of-the-gateway";
export const bearer = { authorization: `Bearer ${apiKey}` };

export interface TestDeps extends GatewayDeps {
  readonly operations: FakeOperations;
  readonly search: GatewayDeps["context"]["search"];
  readonly logs: MemoryLogs;
  /** The logged lines. */
  readonly lines: string[];
}

/** What the gateway is handed in tests: fakes in memory, any free port, the dashboard on. */
export function testDeps(overrides: Partial<TestDeps> = {}): TestDeps {
  const lines: string[] = [];
  const operations = overrides.operations ?? fakeOperations([{ name: "dev" }]);
  const { search = operations.context.search, logs = memoryLogs() } = overrides;
  const deps: TestDeps = {
    operations,
    search,
    rows: operations.rows,
    context: Object.assign(operations.context, { search, logs }),
    receiveWebhook: (delivery) => deps.operations.receiveWebhook(delivery),
    sessions: memorySessions(),
    loginLinks: createLoginLinks(() => apiKey),
    answerLinks: createAnswerLinks("key of the links", (id) => {
      const question = deps.operations.asked.find((one) => one.id === id);
      return question === undefined ? null : { id, until: Date.parse(question.until) };
    }),
    logs,
    apiKey: () => apiKey,
    keyChange$: NEVER,
    metrics: createMetrics("0.1.0"),
    dashboard: true,
    host: "127.0.0.1",
    port: 0,
    allowedHosts: [],
    publicUrl: null,
    trustProxy: false,
    maxBodyBytes: 1024 * 1024,
    log: (level, message) => void lines.push(`${level} ${message}`),
    lines,
    ...overrides,
  };
  return deps;
}

/** An app that closes with its test, and requests to it with the API key. */
export async function openApp(overrides: Partial<TestDeps> = {}, makeApp = tcpApp) {
  const deps = testDeps(overrides);
  const app = await makeApp(deps);
  onTestFinished(() => app.close());
  const get = (url: string, options: InjectOptions = {}) =>
    app.inject({ url, ...options, headers: { ...bearer, ...options.headers } });
  const post = (url: string, options: InjectOptions = {}) =>
    get(url, { method: "POST", ...options });
  return { app, deps, operations: deps.operations, calls: deps.operations.calls, get, post };
}

/** Listens on TCP until the test is over; the URL with the address, because `localhost` may mean another one. */
export async function startTcp(deps: GatewayDeps): Promise<string> {
  const gateway = createGateway(deps);
  onTestFinished(() => gateway.close());
  return (await gateway.listenTcp()).replace("localhost", "127.0.0.1");
}

/** Logs in as a browser does; the cookie to send from then on. */
export async function logIn(app: FastifyInstance): Promise<string> {
  const response = await app.inject({ method: "POST", url: "/login", payload: { key: apiKey } });
  return String(response.headers["set-cookie"]).split(";")[0] ?? "";
}
