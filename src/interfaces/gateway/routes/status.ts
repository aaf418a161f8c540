import type { FastifyInstance } from "fastify";
import { defer, map, share, startWith } from "rxjs";
import type { Observable } from "rxjs";
import { schedulerSchema, snapshotSchema, updateSchema } from "../../../../streams/status/wire.ts";
import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import type { Operations } from "../../../foundation/contracts/operations.ts";
import { healthAnswer, locksAnswer, readyAnswer } from "../api/answers.ts";
import { withZod } from "../api/zod-types.ts";
import { endOfAccess } from "../auth.ts";
import type { GatewayDeps } from "../deps.ts";
import { HttpProblem } from "../problem.ts";
import { eventText } from "../sse.ts";
import type { EventStreams } from "../sse.ts";

const tag = "Status";
const streamSchema = {
  tag,
  summary: "The same as Server-Sent Events with changes",
  description:
    "Event `snapshot` (StatusSnapshot) at connect, then at most every 100 ms an event `update` (StatusUpdate) that " +
    "holds only what changed.",
  produces: "text/event-stream",
  events: { snapshot: snapshotSchema, update: updateSchema },
};

/** The scheduler's state, once or as a stream of changes, and the locks that runs hold. */
export function statusRoutes(app: FastifyInstance, deps: GatewayDeps, streams: EventStreams): void {
  const events$ = statusEvents(deps.operations);
  const api = withZod(app);
  const schema = {
    tag,
    summary: "The scheduler and its agents as they are now",
    response: { 200: snapshotSchema },
  };
  api.get("/control/status", { schema }, () => deps.operations.snapshot());
  const options = { config: { stream: "status" }, schema: streamSchema } as const;
  app.get("/dashboard/api/status-stream", options, (request, reply) =>
    streams.serve(request, reply, events$, endOfAccess(request, deps)),
  );

  const schedulerRoute = {
    schema: {
      tag,
      summary: "The scheduler as a whole, without its agents",
      description: "For hidden tabs: asking for it does not prolong a session.",
      response: { 200: schedulerSchema },
    },
    config: { isBackground: true },
  };
  api.get("/dashboard/api/scheduler", schedulerRoute, () => deps.operations.snapshot().scheduler);

  const locksSchema = {
    tag,
    summary: "Resource locks that runs hold now",
    response: { 200: locksAnswer },
  };
  api.get("/locks/status", { schema: locksSchema }, () => ({ locks: deps.operations.locks() }));
}

/**
 * The texts of the status stream: a snapshot, then the changes. Each change is serialized once for all clients, and a
 * snapshot once for all that come between two changes.
 */
export function statusEvents(operations: Operations): Observable<string> {
  let updates = 0;
  let last: { readonly snapshot: StatusSnapshot; readonly text: string } | null = null;
  const update$ = operations.update$.pipe(
    map((update) => eventText("update", String(++updates), JSON.stringify(update))),
    share(),
  );
  const snapshotText = (): string => {
    const snapshot = operations.snapshot();
    if (last?.snapshot !== snapshot) {
      last = { snapshot, text: eventText("snapshot", String(updates), JSON.stringify(snapshot)) };
    }
    return last.text;
  };
  // Snapshot and subscription happen in one turn: no change fits between them. One that the snapshot already holds
  // may follow as an update, which repeats whole rows and does no harm.
  return defer(() => update$.pipe(startWith(snapshotText())));
}

/** Whether the process lives and whether it takes work; both need no key. */
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
    summary: "Whether it takes work: not while starting or draining, or without disk space for it",
    response: { 200: readyAnswer },
    problems: [503],
  };
  api.get("/health/ready", { schema: readySchema }, () => {
    const phase = deps.operations.phase();
    const headers = { "retry-after": "5" };
    if (phase !== "running") {
      throw new HttpProblem(503, phase, `The scheduler is ${phase}.`, { headers });
    }
    const problem = deps.operations.storeProblem();
    if (problem === null) return { status: "ready" as const };
    throw new HttpProblem(503, "store_unavailable", `No work can be stored: ${problem}.`, {
      headers,
    });
  });
}

/** The numbers for Prometheus, for clients with the key. */
export function metricsRoutes(app: FastifyInstance, { metrics }: GatewayDeps): void {
  const schema = {
    tag,
    summary: "Metrics in Prometheus' text format",
    produces: "text/plain",
  };
  app.get("/metrics", { schema }, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text()),
  );
}
