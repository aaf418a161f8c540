import type { FastifyInstance } from "fastify";
import fc from "fast-check";
import { operatorApp, tcpApp } from "../../../../src/interfaces/gateway/app.ts";
import type { LogQuery } from "../../../../src/foundation/logs/log-query.ts";
import { bearer, testDeps } from "../../../interfaces/gateway/start-gateway.ts";
import { memoryLogs } from "../../../helpers/memory-logs.ts";
import { hostileRequest, routesOf, type HostileRequest } from "./requests.ts";
import { share } from "./share.ts";

test.each([
  ["the port", tcpApp, 5_000],
  ["the operator's socket", operatorApp, 1_500],
] as const)(
  "%s answers random requests to any route without a 5xx",
  async (_name, make, inputs) => {
    const logs = memoryLogs();
    /** The agents whose logs were looked for. */
    const named = new Set<string>();
    const read = (query: LogQuery) => {
      named.add(query.agent ?? "scheduler");
      return logs.read(query);
    };
    const deps = testDeps({ logs: { ...logs, read } });
    const app = await make(deps);
    onTestFinished(() => app.close());
    const routes = routesOf((await app.inject({ url: "/openapi.json", headers: bearer })).json());
    expect(routes.length).toBeGreaterThan(20);
    await fc.assert(
      fc.asyncProperty(hostileRequest(routes), async (request) => {
        const status = await ask(app, request);
        expect(status).toBeGreaterThanOrEqual(200);
        expect(status).toBeLessThan(500);
        expect(deps.lines.filter((line) => line.startsWith("50"))).toEqual([]);
      }),
      share(inputs),
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
    for (const name of named) expect(name).toMatch(/^[a-z0-9][a-z0-9-]{0,62}$/);
  },
  180_000,
);

async function ask(app: FastifyInstance, { method, url, headers, body, withKey }: HostileRequest) {
  const response = await app.inject({
    method: method as "GET",
    url,
    headers: { host: "localhost", ...headers, ...(withKey ? bearer : {}) },
    ...(body === null ? {} : { payload: body }),
    // A stream has no end to wait for.
    payloadAsStream: true,
  });
  response.stream().destroy();
  response.raw.res.destroy();
  return response.statusCode;
}
