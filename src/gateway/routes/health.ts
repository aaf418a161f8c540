import type { FastifyInstance } from "fastify";
import { healthAnswer, readyAnswer } from "../api/answers.ts";
import { withZod } from "../api/zod-types.ts";
import type { GatewayDeps } from "../deps.ts";
import { HttpProblem } from "../problem.ts";

const tag = "Status";

/** Whether the process lives and whether it takes work; open to everybody. */
export function healthRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  const startedAt = performance.now();
  const api = withZod(app);
  const liveSchema = { tag, summary: "Whether it lives", response: { 200: healthAnswer } };
  api.get("/health", { schema: liveSchema }, () => ({
    status: "ok" as const,
    uptimeSeconds: Math.floor((performance.now() - startedAt) / 1000),
  }));

  const readySchema = {
    tag,
    summary: "Whether it takes work: not while starting or draining",
    response: { 200: readyAnswer },
    problems: [503],
  };
  api.get("/health/ready", { schema: readySchema }, () => {
    const phase = deps.operations.phase();
    if (phase === "running") return { status: "ready" as const };
    throw new HttpProblem(503, phase, `The scheduler is ${phase}.`, {
      headers: { "retry-after": "5" },
    });
  });
}
