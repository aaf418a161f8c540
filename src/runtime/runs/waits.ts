import type { Wait, Condition } from "../../foundation/contracts/run-state.ts";
import { z } from "zod";
import { drive } from "../../foundation/drive.ts";
import { createWaits, type WaitEvent, type WaitCommand, type Waits } from "./rules/waits.ts";
import type { WebhookEvent } from "../../../streams/vocabulary.ts";
import { maxWaitsOfRun, type RequestAnswer, type RunApiRequest } from "../wire/protocol.ts";
import { waitRequests } from "../wire/requests/waits.ts";
import type { CallTrigger } from "./calls.ts";
import type { LiveRun, OpenWait } from "./live-run.ts";
import { callAs, deliveryAs, lookBack, type PastMatch, type WaitedFor } from "./look-back.ts";
import { hungUpMs, requestId, type PendingRequest } from "./pending-requests.ts";
import { mustHaveSource } from "./refusals.ts";
import type { RequestContext } from "./request-context.ts";
import type { RunMatch } from "../../foundation/store/receipts.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";

type Answer = RequestAnswer<"wait">;

/** Waits over their store: the event that meets a wait is committed as its answer, and survives a restart. */
export function createWaitRequests(context: RequestContext) {
  const { clock, store, deliveryOf, onProblem } = context;
  const machine = createWaits<OpenWait>();

  const onEvent = (event: WaitEvent<OpenWait>): void => {
    if (event.type === "timed-out") void timedOut(event.wait);
    if (event.type === "met") close(event.wait).answer(waitAnswer(event.wait, event.match.trigger));
  };
  const driver = drive(machine, clock, onEvent);
  const { apply } = driver;
  const { match } = machine;

  /** Opens a wait for events from now on; earlier ones are all in the store once `stored` resolves. */
  const open = (
    wait: Wait,
    run: LiveRun,
    pending: PendingRequest<Answer>,
    stored: Promise<void>,
  ): OpenWait => {
    const opened: OpenWait = { ...wait, run, pending, lookedBack: stored };
    run.waits.set(wait.key, opened);
    opened.lookedBack = stored
      .then(() => findEarlier(opened))
      .catch((error: unknown) => refuse(opened, error));
    apply({ type: "wait", wait: opened });
    return opened;
  };
  const findEarlier = async (wait: OpenWait): Promise<void> => {
    const { past } = store;
    for await (const found of lookBack(wait, { past, deliveryOf })) {
      if (!isOpen(wait) || (await takeEarlier(wait, found, context, apply))) return;
    }
    if (!isOpen(wait)) return;
    wait.pending.suspend({ pausesClock: true, text: waitText(wait.condition) });
  };
  const cancel = (wait: OpenWait): void => {
    if (!isOpen(wait)) return;
    const { key, instanceId, run } = wait;
    apply({ type: "cancel", key });
    store.waits
      .cancel({ instanceId, key, waitedMs: run.clock.waitedMs() })
      .catch((error: unknown) => onProblem(`the end of a wait: ${String(error)}`));
    refuse(wait, new Error("the run no longer waits for it"));
  };
  const timedOut = async (wait: OpenWait): Promise<void> => {
    // Even a short wait must finish its search of earlier events.
    await wait.lookedBack;
    if (!isOpen(wait)) return;
    try {
      const answer = await store.waits.end(endOf(wait, waitAnswer(wait, null)));
      if (isOpen(wait)) close(wait).answer(storedAnswer(answer));
    } catch (error) {
      refuse(wait, error);
    }
  };

  return {
    wait: async (run: LiveRun, request: RunApiRequest<"wait">): Promise<Answer> => {
      const id = requestId(request);
      const before = store.waits.answer(run.instanceId, id);
      if (before !== undefined) return storedAnswer(before);
      if (!run.waits.has(id)) mustHave(request.request, context);
      const begin = (pending: PendingRequest<Answer>) => {
        const wait = newWait(run, request, clock.now());
        const limited = limitOf(wait);
        if (limited) run.warn(`wait_for_trigger ${limited.why}`);
        const opened = open(wait, run, pending, store.waits.add(wait));
        return () => cancel(opened);
      };
      return run.pending.ask(request, begin, hungUpMs);
    },
    /** `payload` is the JSON of the delivery. */
    ofDelivery: (event: WebhookEvent, payload: unknown) =>
      matchRuns({ match, apply }, deliveryAs(event, payload)),
    ofCall: (agent: string, call: CallTrigger) => matchRuns({ match, apply }, callAs(agent, call)),
    /** An adopted run waits as before, and must repeat its request. */
    resume: (run: LiveRun) => {
      for (const wait of store.waits.all()) {
        if (wait.instanceId !== run.instanceId || run.waits.has(wait.key)) continue;
        run.pending.expect<Answer>(wait.key, (pending) => {
          const opened = open(wait, run, pending, Promise.resolve());
          return () => cancel(opened);
        });
      }
    },
    /** The run has ended. */
    end: (run: LiveRun) => {
      const { instanceId } = run;
      apply({ type: "ended", instanceId });
      run.waits.clear();
      store.waits
        .forget(instanceId)
        .catch((error: unknown) => onProblem(`a request of ${instanceId}: ${String(error)}`));
    },
    stop: driver.stop,
  };
}

function isOpen(wait: OpenWait): boolean {
  return wait.run.waits.get(wait.key) === wait;
}

/** The wait has ended; its request must be answered or rejected. */
function close(wait: OpenWait): PendingRequest<Answer> {
  wait.run.waits.delete(wait.key);
  return wait.pending;
}

function refuse(wait: OpenWait, error: unknown): void {
  if (isOpen(wait)) close(wait).refuse(error);
}

function endOf(wait: OpenWait, answer: Answer) {
  const { key, instanceId, run } = wait;
  return { key, instanceId, answer, waitedMs: run.clock.waitedMs() };
}

/** Answers the wait with an earlier item; false if a run of the agent has it now, and the wait continues. */
async function takeEarlier(
  wait: OpenWait,
  { item, trigger }: PastMatch,
  { store, onTaken }: RequestContext,
  apply: WaitDriver["apply"],
): Promise<boolean> {
  // Canceled, so that no other event meets the wait meanwhile.
  apply({ type: "cancel", key: wait.key });
  const end = endOf(wait, waitAnswer(wait, trigger));
  const taken = await store.past.take(item, end);
  if (taken === null) {
    if (isOpen(wait)) apply({ type: "wait", wait });
    return false;
  }
  if (taken.answer === end.answer) onTaken(item);
  close(wait).answer(storedAnswer(taken.answer));
  return true;
}

function mustHave({ kind, source }: Condition, { project, agentNames }: RequestContext): void {
  const sources = Object.keys(project().webhooks);
  mustHaveSource(kind, source, { sources, agents: agentNames() });
}

const answerSchema = waitRequests.wait.answer(z);

/** A stored answer, possibly of an earlier scheduler. */
function storedAnswer(answer: unknown): Answer {
  return answerSchema.parse(answer);
}

function newWait(run: LiveRun, request: RunApiRequest<"wait">, since: number): Wait {
  const { timeoutSeconds, ...condition } = request.request;
  const { instanceId, agent } = run;
  const config = run.request.agent;
  const { ms, ...asked } = waitTimes(timeoutSeconds, config, run.clock.waitedMs());
  return {
    key: requestId(request),
    instanceId,
    agent,
    condition,
    since,
    until: since + ms,
    ...asked,
  };
}

/** Matches a delivery or a call before its commit with the runs that wait for one. */
function matchRuns({ match, apply }: WaitDriver, { occurrence, trigger }: WaitedFor): RunMatch {
  const matched = match(occurrence, trigger);
  if (matched === null) return { waitingRuns: [], deliver: () => undefined };
  const waitingRuns = matched.waits.map((wait) => ({
    agent: wait.agent,
    instanceId: wait.instanceId,
    key: wait.key,
    answer: waitAnswer(wait, matched.trigger),
    waitedMs: wait.run.clock.waitedMs(),
    isWaiting: () => isOpen(wait),
  }));
  return {
    waitingRuns,
    deliver: (taken) => apply({ type: taken ? "delivered" : "not-delivered", match: matched }),
  };
}

interface WaitDriver {
  readonly match: Waits<OpenWait>["match"];
  readonly apply: (command: WaitCommand<OpenWait>) => void;
}

/** The answer to an ended wait: with the trigger that met it, or null if it timed out. */
function waitAnswer(
  wait: Wait,
  trigger: Readonly<Record<string, unknown>> | null,
): RequestAnswer<"wait"> {
  const limited = limitOf(wait);
  const shorter = limited === null ? {} : { limited };
  return { ok: true, timedOut: trigger === null, ...shorter, trigger };
}

/** By how much a wait is shorter than requested, and why; null if it is not. */
function limitOf({ since, until, askedMs }: Wait): RequestAnswer<"wait">["limited"] | null {
  if (askedMs === undefined) return null;
  const [askedSeconds, timeoutSeconds] = [askedMs / 1000, (until - since) / 1000];
  const why = `waits at most ${timeoutSeconds} s instead of ${askedSeconds} s: a wait lasts no longer than the agent's waitTimeout, and all waits of a run no longer than ${maxWaitsOfRun} times that`;
  return { askedSeconds, timeoutSeconds, why };
}

/** How long a run waits, in ms: as requested, up to its agent's limit and to the rest of the limit for all its waits. */
function waitTimes(
  askedSeconds: number | undefined,
  { waitTimeoutSeconds }: AgentConfig,
  waitedMs: number,
): { readonly ms: number; readonly askedMs?: number } {
  const askedMs = Math.round((askedSeconds ?? waitTimeoutSeconds) * 1000);
  const limitMs = Math.round(waitTimeoutSeconds * 1000);
  const left = Math.max(0, maxWaitsOfRun * limitMs - waitedMs);
  const ms = Math.min(askedMs, limitMs, left);
  return ms < askedMs ? { ms, askedMs } : { ms };
}

/** Status text of a waiting run. */
function waitText({ kind, source, event }: Condition): string {
  const from = source === undefined ? "" : ` from ${source}`;
  if (kind === "agent-call") return `waits for a call${from}`;
  return `waits for ${event === undefined ? "a webhook" : `the webhook ${event}`}${from}`;
}
