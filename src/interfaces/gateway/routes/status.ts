import { defer, filter, finalize, map, merge, share, startWith, type Observable } from "rxjs";
import { z } from "zod";
import { logEntrySchema, snapshotSchema, updateSchema } from "../../../../streams/status/wire.ts";
import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import { Problem } from "../../../foundation/errors.ts";
import type { SchedulerContext } from "../../../foundation/context.ts";
import type { IsMine } from "../../../foundation/operation.ts";
import type { StatusStore } from "../../../foundation/scheduler/status-store.ts";
import { limitedSnapshot, limitedUpdate } from "../../../runtime/runs/limited-status.ts";
import type { StatusContext } from "../../../runtime/runs/limited-status.ts";
import { healthAnswer, readyAnswer } from "../api/answers.ts";
import type { OpenApi } from "../api/openapi.ts";
import { operationRoutes } from "../api/operation-routes.ts";
import { routesOf, type Route } from "../api/route.ts";
import { endOfAccess } from "../auth.ts";
import type { GatewayDeps } from "../deps.ts";
import { followedLogs, followedLogsSchema } from "./logs.ts";
import { eventText, type EventStreams } from "../sse.ts";
import { limitOf } from "../token-limits.ts";

const { get } = routesOf("Status");
const streamQuery = z.object({
  since: z.coerce.number().optional().meta({
    description:
      "ID of the last status event that was received: a few missed updates are sent without a snapshot",
  }),
  log: followedLogsSchema,
});

/** The scheduler's state as a stream of changes, after the first of the operations that read it. */
export function statusRoutes(deps: GatewayDeps, streams: EventStreams): Route[] {
  const reads = operationRoutes("Status", deps);
  const { context } = deps;
  const eventsSince = statusEvents(context.status);
  const stream = get("/dashboard/api/status-stream", {
    summary: "The same as Server-Sent Events with changes, and the lines of logs",
    description:
      "Event `snapshot` (StatusSnapshot) at connect, then at most every 100 ms an event `update` (StatusUpdate) that " +
      "contains only the changes. With `log`, an event `log-0` (LogEntry) for each line of the first one, `log-1` of the " +
      "second; its id is the position to resume that log from.",
    query: streamQuery,
    produces: "text/event-stream",
    events: { snapshot: snapshotSchema, update: updateSchema, "log-0": logEntrySchema },
    config: { stream: "status" },
    isAbout: ({ query }, isMine) => query.log.every(({ agent }) => isMine(agent)),
    handle: async (request, reply) => {
      const logs = await followedLogs(request.query.log, deps);
      const lines = logs.map(({ first }) => first).join("");
      const isMine = limitOf(request);
      const all$ =
        isMine === null ? eventsSince(request.query.since) : limitedEvents(context, isMine);
      const status$ = all$.pipe(map((text, at) => (at === 0 ? text + lines : text)));
      const events$ = merge(status$, ...logs.map(({ more$ }) => more$));
      streams.serve(request, reply, events$, endOfAccess(request, deps));
      return reply;
    },
  });
  return [...reads.slice(0, 1), stream, ...reads.slice(1)];
}

/** Updates that a client may have missed without needing a snapshot. */
const recentUpdates = 100;

/**
 * The texts of the status stream: a snapshot, then the changes. Each change is serialized once for all clients, and a
 * snapshot once for all that come between two changes. A client gets the updates after the one that it had last
 * in place of the snapshot.
 */
export function statusEvents(status: Pick<StatusStore, "snapshot" | "update$">) {
  // Counts from the time, so that no id of an earlier scheduler is repeated.
  let updates = Date.now();
  let recent: readonly string[] = [];
  let last: { readonly snapshot: StatusSnapshot; readonly text: string } | null = null;
  const update$ = status.update$.pipe(
    map((update) => {
      const text = eventText("update", String(++updates), JSON.stringify(update));
      recent = [...recent, text].slice(-recentUpdates);
      return text;
    }),
    finalize(() => {
      // Without clients, changes are not counted, so the next client needs a snapshot.
      updates += 1;
      recent = [];
    }),
    share(),
  );
  const firstText = (since: number | undefined): string => {
    const snapshot = status.snapshot();
    const missed = updates - (since ?? NaN);
    if (missed === 0) return eventText("update", String(updates), "{}");
    if (missed > 0 && missed <= recent.length) return recent.slice(-missed).join("");
    if (last?.snapshot !== snapshot) {
      last = { snapshot, text: eventText("snapshot", String(updates), JSON.stringify(snapshot)) };
    }
    return last.text;
  };
  // The first text and the subscription happen in one turn: no change fits between them. One that the snapshot already
  // holds may follow as an update, which repeats whole rows, and log lines by their `seq`.
  return (since?: number): Observable<string> =>
    defer(() => update$.pipe(startWith(firstText(since))));
}

/** The status stream for a token that is limited to agents; it always begins with a snapshot. */
function limitedEvents(context: StatusContext, isMine: IsMine): Observable<string> {
  let id = Date.now();
  const text = (event: string, data: object): string =>
    eventText(event, String(id++), JSON.stringify(data));
  return defer(() =>
    context.status.update$.pipe(
      map((update) => limitedUpdate(update, context, isMine)),
      filter((update) => update !== null),
      map((update) => text("update", update)),
      startWith(text("snapshot", limitedSnapshot(context, isMine))),
    ),
  );
}

/** Whether the process lives and whether it accepts work; both need no key. */
export function healthRoutes({ context }: GatewayDeps) {
  const startedAt = performance.now();
  return [
    get("/health", {
      summary: "Whether it lives",
      response: { 200: healthAnswer },
      handle: () => ({
        status: "ok" as const,
        uptimeSeconds: Math.floor((performance.now() - startedAt) / 1000),
      }),
    }),
    get("/health/ready", {
      summary:
        "Whether the scheduler accepts work: not while it starts, drains or lacks disk space",
      response: { 200: readyAnswer },
      problems: [503],
      handle: () => {
        const phase = context.stopping.phase();
        if (phase !== "running") throw new Problem(phase, `The scheduler is ${phase}.`);
        const problem = storeProblem(context);
        if (problem === null) return { status: "ready" as const };
        throw new Problem("store_unavailable", `No work can be stored: ${problem}.`);
      },
    }),
  ];
}

/** Why no work can be stored now, for a person; null if it can. */
function storeProblem({ store, stopping }: SchedulerContext): string | null {
  const problem = store.problem();
  // Writes, so that the next request knows whether the problem is over.
  if (problem !== null && stopping.phase() === "running") {
    void store.settings.recordAlive(Date.now()).catch(() => undefined);
  }
  return problem;
}

/** The numbers for Prometheus, for clients with the key. */
export const metricsRoutes = ({ metrics }: GatewayDeps) => [
  get("/metrics", {
    summary: "Metrics in Prometheus' text format",
    produces: "text/plain",
    handle: async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()),
  }),
];

/** The API's description for programs. `describe` is called at the first request, after all routes were added. */
export function openapiRoutes(describe: () => OpenApi) {
  // It can't change after the start, and requests for it may need no key.
  let text: string | null = null;
  return [
    routesOf("Description").get("/openapi.json", {
      summary: "This description, as OpenAPI 3.1",
      produces: "application/json",
      isAbout: () => true,
      handle: (_request, reply) => {
        text ??= JSON.stringify(describe());
        return reply.type("application/json; charset=utf-8").send(text);
      },
    }),
  ];
}
