import type { Observable } from "rxjs";
import type { Clock } from "../../../streams/clock.ts";
import { createWaitGraph } from "./rules/wait-graph.ts";
import type { LockStatusEvent } from "../../../streams/status/reduce-status.ts";
import type { RunEvent, WebhookEvent } from "../../../streams/vocabulary.ts";
import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import { refusal } from "../../foundation/contracts/run-api.ts";
import type {
  RequestAnswer,
  RequestName,
  RunApi,
  RunApiRequest,
} from "../../foundation/contracts/run-api.ts";
import type { RequestRow } from "../../foundation/contracts/run-requests/row.ts";
import { schedulerRequests } from "../../foundation/contracts/run-requests/table.ts";
import type { RunMatch } from "../../foundation/contracts/webhook-receipts.ts";
import type { Store } from "../../foundation/store/store.ts";
import { createBudgetWaits } from "./budget-waits.ts";
import type { BudgetWaitDeps } from "./budget-waits.ts";
import { createCallRequests } from "./calls.ts";
import type { CallDeps } from "./calls.ts";
import type { LiveRun } from "./live-run.ts";
import type { LiveRuns } from "./live-runs.ts";
import { createLockRequests } from "./locks.ts";
import { requestId } from "./pending-requests.ts";
import type { Performers } from "./live-run.ts";
import { mustHaveSource } from "./refusals.ts";
import { createWaitRequests } from "./waits.ts";
import type { WaitDeps } from "./waits.ts";

export interface RunRequestsDeps
  extends
    Pick<CallDeps, "firstEvents" | "mustBeRunnable" | "dispatch" | "abandon">,
    Pick<WaitDeps, "deliveryOf" | "onTaken">,
    Pick<BudgetWaitDeps, "funds"> {
  readonly clock: Clock;
  readonly runs: LiveRuns;
  /** Already without the locks, waits and calls of runs that live no more. */
  readonly store: Pick<Store, "locks" | "waits" | "past" | "calls" | "spend">;
  readonly project: () => Pick<
    ProjectConfig,
    "resourceLockTimeoutSeconds" | "maxCallDepth" | "webhooks"
  >;
  readonly agentNames: () => readonly string[];
  readonly onProblem: (message: string) => void;
  readonly redact: (text: string) => string;
}

/** Performs the requests of live runs, over what flows and what is stored. */
export interface RunRequests extends RunApi {
  /** Matches a delivery with the runs that wait for one. */
  matchDelivery(event: WebhookEvent, payload: unknown): RunMatch;
  /** The locks that runs hold and wait for, for the status. */
  readonly lockStatus$: Observable<LockStatusEvent>;
  /** After the event was given to the store: answers about work that it ends are read from there. */
  onEvent(event: RunEvent): void;
  /** Takes over the calls of an earlier scheduler's runs; once. */
  restore(alive: ReadonlySet<string>): void;
  /** Cancels all timers. */
  stop(): void;
}

export function createRunRequests(deps: RunRequestsDeps): RunRequests {
  const { clock, runs, store, project, onProblem } = deps;
  const graph = createWaitGraph();
  const locks = createLockRequests({
    clock,
    graph,
    store,
    onProblem,
    defaultTtlMs: () => project().resourceLockTimeoutSeconds * 1000,
  });
  const waits = createWaitRequests({
    clock,
    store,
    onProblem,
    deliveryOf: deps.deliveryOf,
    onTaken: deps.onTaken,
    mustHaveSource: ({ kind, source }) => {
      const sources = Object.keys(project().webhooks);
      mustHaveSource(kind, source, { sources, agents: deps.agentNames() });
    },
  });
  const calls = createCallRequests({
    clock,
    graph,
    store,
    firstEvents: deps.firstEvents,
    mustBeRunnable: deps.mustBeRunnable,
    dispatch: deps.dispatch,
    abandon: deps.abandon,
    isLive: (instanceId) => runs.find(instanceId) !== undefined,
    maxDepth: () => project().maxCallDepth,
    matchCall: waits.ofCall,
  });
  const budgetWaits = createBudgetWaits({ clock, store, onProblem, funds: deps.funds });
  const performers: Performers = {
    ...locks.performers,
    ...calls.performers,
    ...budgetWaits.performers,
    wait: waits.wait,
    cancel: (run, { instanceId, key }) => {
      waits.cancel(run, requestId({ instanceId, ability: "wait", key }));
      budgetWaits.cancel(run, requestId({ instanceId, ability: "budget-wait", key }));
      for (const ability of ["call-wait", "lock"] as const) {
        run.pending[ability].cancel(requestId({ instanceId, ability, key }));
      }
      return Promise.resolve({ ok: true });
    },
  };

  const onStarted = (run: LiveRun): void => {
    run.onDispose(() => locks.end(run));
    run.onDispose(() => waits.end(run));
    run.onDispose(() => budgetWaits.end(run));
    waits.resume(run);
    budgetWaits.resume(run);
  };
  return {
    perform: async <A extends RequestName>(
      request: RunApiRequest<A>,
    ): Promise<RequestAnswer<A>> => {
      assertShowable(request, deps.redact);
      const run = runs.get(request.instanceId);
      run.openRequests++;
      try {
        const perform: Performers[A] = performers[request.ability];
        return await perform(run, request);
      } finally {
        // In this order: what is asked meanwhile must not freeze it before it has the answer.
        await run.freezer.thaw();
        run.openRequests--;
      }
    },
    matchDelivery: waits.ofDelivery,
    lockStatus$: locks.lockStatus$,
    onEvent: (event) => {
      if (event.type === "started") {
        const run = runs.find(event.instanceId);
        if (run !== undefined) onStarted(run);
      }
      if (aboutWork.has(event.type)) calls.onEvent(event);
      runs.onEvent(event);
    },
    restore: (alive) => calls.restore(alive),
    stop: () => {
      for (const { stop } of [locks, waits, calls, budgetWaits]) stop();
    },
  };
}

/** A text that names something can't be redacted: it would name something else. */
function assertShowable({ ability, request }: RunApiRequest, redact: RunRequestsDeps["redact"]) {
  const { shown = [] }: RequestRow = schedulerRequests[ability];
  const fields: Readonly<Record<string, unknown>> = { ...request };
  const secret = shown.find((name) => {
    const text = JSON.stringify(fields[name] ?? null);
    return redact(text) !== text;
  });
  if (secret === undefined) return;
  throw refusal("malformed", `${secret}: it holds a secret, and is stored and shown as it is`);
}

/** The events by which calls proceed, as all work does. */
const aboutWork: ReadonlySet<RunEvent["type"]> = new Set([
  "started",
  "finished",
  "refused",
  "taken",
]);
