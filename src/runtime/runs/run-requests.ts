import { isDeepStrictEqual } from "node:util";
import { createWaitGraph } from "./rules/wait-graph.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { refusal } from "../wire/protocol.ts";
import type { RequestAnswer, RequestName, RunApi, RunApiRequest } from "../wire/protocol.ts";
import type { RequestRow } from "../wire/requests/row.ts";
import { schedulerRequests } from "../wire/requests/table.ts";
import { unlessAborted } from "../runners/as-run.ts";
import { createBudgetWaits } from "./budget-waits.ts";
import { createAsks } from "./asks.ts";
import { createDeliveries } from "./deliver-to-run.ts";
import { createCallRequests } from "./calls.ts";
import type { LiveRun, Performers } from "./live-run.ts";
import { createGates } from "./gates.ts";
import { createLockRequests } from "./locks.ts";
import { createMemoryRequests } from "./memory-requests.ts";
import { createMcpRequests } from "./mcp-requests.ts";
import { requestId } from "./pending-requests.ts";
import type { RequestContext } from "./request-context.ts";
import { createWaitRequests } from "./waits.ts";
import { personText } from "../../foundation/contracts/questions.ts";

/** Performs the requests of live runs to the scheduler (locks, calls, waits), by the event stream and the store. */
export function createRunRequests(context: RequestContext) {
  const { runs, redactValue } = context;
  const graph = createWaitGraph();
  const locks = createLockRequests(context, graph);
  const waits = createWaitRequests(context);
  const gates = createGates(context);
  const calls = createCallRequests(context, graph, waits.ofCall, gates);
  const budgetWaits = createBudgetWaits(context, gates);
  const asks = createAsks(context);
  const mcp = createMcpRequests(context, gates);
  const deliver = createDeliveries(context);
  const performers: Performers = {
    ...locks.performers,
    ...calls.performers,
    ...budgetWaits.performers,
    ...asks.performers,
    ...createPeopleRequests(context),
    ...mcp.performers,
    ...createMemoryRequests(context),
    "model-verdict": (run, { request: { call = "" } }) =>
      Promise.resolve({ ok: true, verdict: run.modelCalls.verdictOn(call) }),
    wait: waits.wait,
    cancel: (run, { instanceId, key }) => {
      for (const ability of ["wait", "ask", "budget-wait", "call-wait", "lock"] as const) {
        run.pending.cancel(requestId({ instanceId, ability, key }));
      }
      return Promise.resolve({ ok: true });
    },
  };

  const onStarted = (run: LiveRun, isAdopted: boolean): void => {
    run.onDispose(() => locks.end(run));
    run.onDispose(() => waits.end(run));
    run.onDispose(() => budgetWaits.end(run));
    run.onDispose(() => asks.end(run));
    run.onDispose(() => mcp.end(run));
    // A new run has no requests yet; reading a store that is unavailable would end the scheduler.
    if (!isAdopted) return run.onConnected();
    waits.resume(run);
    asks.resume(run);
    budgetWaits.resume(run);
  };
  const api: RunApi = {
    perform: async <A extends RequestName>(
      request: RunApiRequest<A>,
    ): Promise<RequestAnswer<A>> => {
      assertShowable(request, redactValue);
      const run = runs.get(request.instanceId);
      const perform: Performers[A] = performers[request.ability];
      const { isOfHarness }: RequestRow = schedulerRequests[request.ability];
      if (isOfHarness === true) return perform(run, request);
      const answer = await run.whileOpen(() =>
        unlessAborted(perform(run, request), request.signal),
      );
      if (answer === null) throw new Error("the run hung up");
      return answer;
    },
  };
  return {
    ...api,
    gates,
    /** Matches a delivery with the runs that wait for one. */
    matchDelivery: waits.ofDelivery,
    /** The locks that runs hold and wait for, for the status. */
    lockStatus$: locks.lockStatus$,
    /** Called after the store received the event: answers about work that it ends are read from there. */
    onEvent: (event: RunEvent) => {
      if (event.type === "started") {
        const run = runs.find(event.instanceId);
        if (run !== undefined) onStarted(run, event.startedAt !== undefined);
      }
      if (aboutWork.has(event.type)) calls.onEvent(event);
      runs.onEvent(event);
      deliver(event);
    },
    /** Takes over the calls of an earlier scheduler's runs; once. */
    restore: (alive: ReadonlySet<string>) => calls.restore(alive),
    /** Cancels all timers. */
    stop: () => {
      for (const { stop } of [locks, waits, calls, budgetWaits, runs]) stop();
    },
  };
}

export type RunRequests = ReturnType<typeof createRunRequests>;

/** A text that identifies something can't be redacted: it would identify something else. */
function assertShowable(
  { ability, request }: RunApiRequest,
  redactValue: RequestContext["redactValue"],
) {
  const { shown = [] }: RequestRow = schedulerRequests[ability];
  const fields: Readonly<Record<string, unknown>> = { ...request };
  for (const name of shown) {
    const value = fields[name];
    const parts = Array.isArray(value) ? [...value.entries()] : [[0, value] as const];
    const found = parts.find(([, part]) => !isDeepStrictEqual(part, redactValue(part)));
    if (found === undefined) continue;
    const place = Array.isArray(value) ? `${name}: number ${found[0] + 1}` : `${name}: it`;
    const why = "contains a credential or a control character, which would be stored and shown";
    throw refusal("malformed", `${place} ${why}. Leave that out.`);
  }
}

/** The events by which calls proceed, like all work. */
const aboutWork: ReadonlySet<RunEvent["type"]> = new Set([
  "started",
  "finished",
  "refused",
  "taken",
]);

/** Messages to runs. */
function createPeopleRequests({ inbox }: RequestContext): Performers<"inbox" | "session-end"> {
  return {
    inbox: async (run, { request: { after, isLast = false }, signal }) => {
      run.onConnected();
      const { instanceId } = run;
      const found = await (isLast
        ? inbox.last(instanceId, after)
        : inbox.next(instanceId, after, signal));
      const messages = found.flatMap(({ seq, kind, text, by }) =>
        kind === "continue" ? [] : [{ seq, kind, text, by: personText(by) }],
      );
      return { ok: true, messages };
    },
    "session-end": async (run) => {
      run.isSessionOver = true;
      await inbox.end(run.instanceId);
      run.onConnected();
      return { ok: true };
    },
  };
}
