import { defer, filter, finalize, map, merge, share, startWith, type Observable } from "rxjs";
import { z } from "zod";
import {
  logEntrySchema,
  schedulerSchema,
  snapshotSchema,
  updateSchema,
} from "../../../../streams/status/wire.ts";
import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import { Problem } from "../../../foundation/errors.ts";
import type { RunService } from "../../../runtime/runs/run-service.ts";
import { healthAnswer, locksAnswer, readyAnswer } from "../api/answers.ts";
import type { OpenApi } from "../api/openapi.ts";
import { routesOf } from "../api/route.ts";
import { endOfAccess } from "../auth.ts";
import type { GatewayDeps } from "../deps.ts";
import { followedLogs, followedLogsSchema } from "./logs.ts";
import { eventText, type EventStreams } from "../sse.ts";
import { limitedScheduler, limitedSnapshot, limitedUpdate, limitOf } from "../token-limits.ts";
import type { IsMine } from "../token-limits.ts";

const { get } = routesOf("Status");
const streamQuery = z.object({
  since: z.coerce.number().optional().meta({
    description:
      "The id of the last status event that came: a few missed updates come without a snapshot",
  }),
  log: followedLogsSchema,
});

/** The scheduler's state, once or as a stream of changes, and the locks that runs hold. */
export function statusRoutes(deps: GatewayDeps, streams: EventStreams) {
  const { runs } = deps.context;
  const eventsSince = statusEvents(runs);
  return [
    get("/control/status", {
      summary: "The scheduler and its agents as they are now",
      response: { 200: snapshotSchema },
      isAbout: () => true,
      handle: (request) => {
        const isMine = limitOf(request);
        return isMine === null ? runs.snapshot() : limitedSnapshot(runs, isMine);
      },
    }),
    get("/dashboard/api/status-stream", {
      summary: "The same as Server-Sent Events with changes, and the lines of logs",
      description:
        "Event `snapshot` (StatusSnapshot) at connect, then at most every 100 ms an event `update` (StatusUpdate) that " +
        "holds only what changed. With `log`, an event `log-0` (LogEntry) for each line of the first one, `log-1` of the " +
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
          isMine === null ? eventsSince(request.query.since) : limitedEvents(runs, isMine);
        const status$ = all$.pipe(map((text, at) => (at === 0 ? text + lines : text)));
        const events$ = merge(status$, ...logs.map(({ more$ }) => more$));
        streams.serve(request, reply, events$, endOfAccess(request, deps));
        return reply;
      },
    }),
    get("/dashboard/api/scheduler", {
      summary: "The scheduler as a whole, without its agents",
      description: "For hidden tabs: asking for it does not prolong a session.",
      response: { 200: schedulerSchema },
      config: { isBackground: true },
      isAbout: () => true,
      handle: (request) => {
        const isMine = limitOf(request);
        return isMine === null ? runs.snapshot().scheduler : limitedScheduler(runs, isMine);
      },
    }),
    get("/locks/status", {
      summary: "Resource locks that runs hold now",
      response: { 200: locksAnswer },
      isAbout: () => true,
      handle: () => ({ locks: runs.locks() }),
    }),
  ];
}

/** Updates that a client may have missed without needing a snapshot. */
const recentUpdates = 100;

/**
 * The texts of the status stream: a snapshot, then the changes. Each change is serialized once for all clients, and a
 * snapshot once for all that come between two changes. A client gets the updates after the one that it had last
 * in place of the snapshot.
 */
export function statusEvents(runs: RunService) {
  // Counts from the time, so that no id of an earlier scheduler is repeated.
  let updates = Date.now();
  let recent: readonly string[] = [];
  let last: { readonly snapshot: StatusSnapshot; readonly text: string } | null = null;
  const update$ = runs.update$.pipe(
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
    const snapshot = runs.snapshot();
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
function limitedEvents(runs: RunService, isMine: IsMine): Observable<string> {
  let id = Date.now();
  const text = (event: string, data: object): string =>
    eventText(event, String(id++), JSON.stringify(data));
  return defer(() =>
    runs.update$.pipe(
      map((update) => limitedUpdate(update, runs, isMine)),
      filter((update) => update !== null),
      map((update) => text("update", update)),
      startWith(text("snapshot", limitedSnapshot(runs, isMine))),
    ),
  );
}

/** Whether the process lives and whether it accepts work; both need no key. */
export function healthRoutes({ context: { runs } }: GatewayDeps) {
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
        "Whether it takes work: not while starting or draining, or without disk space for it",
      response: { 200: readyAnswer },
      problems: [503],
      handle: () => {
        const phase = runs.phase();
        if (phase !== "running") throw new Problem(phase, `The scheduler is ${phase}.`);
        const problem = runs.storeProblem();
        if (problem === null) return { status: "ready" as const };
        throw new Problem("store_unavailable", `No work can be stored: ${problem}.`);
      },
    }),
  ];
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
