import type { WaitCommand, Waits } from "./rules/waits.ts";
import type { RequestAnswer } from "../run-api/protocol.ts";
import type { RunMatch } from "../../foundation/store/receipts.ts";
import type { OpenWait } from "./live-run.ts";
import type { WaitedFor } from "./look-back.ts";
import type { Wait, Condition } from "../../foundation/contracts/run-state.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { maxWaitsOfRun } from "../run-api/protocol.ts";

/** Matches a delivery or a call before its commit with the runs that wait for one. */
export function matchRuns(
  { match, apply }: WaitDriver,
  { occurrence, trigger }: WaitedFor,
): RunMatch {
  const matched = match(occurrence, trigger);
  if (matched === null) return { waitingRuns: [], deliver: () => undefined };
  const waitingRuns = matched.waits.map((wait) => ({
    agent: wait.agent,
    instanceId: wait.instanceId,
    key: wait.key,
    answer: waitAnswer(wait, matched.trigger),
    waitedMs: wait.run.clock.waitedMs(),
    isWaiting: () => wait.run.waits.get(wait.key) === wait,
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
export function waitAnswer(
  wait: Pick<Wait, "since" | "until" | "askedMs">,
  trigger: Readonly<Record<string, unknown>> | null,
): RequestAnswer<"wait"> {
  const limited = limitOf(wait);
  const shorter = limited === null ? {} : { limited };
  return { ok: true, timedOut: trigger === null, ...shorter, trigger };
}

/** By how much a wait is shorter than requested, and why; null if it is not. */
export function limitOf({
  since,
  until,
  askedMs,
}: Pick<Wait, "since" | "until" | "askedMs">): RequestAnswer<"wait">["limited"] | null {
  if (askedMs === undefined) return null;
  const [askedSeconds, timeoutSeconds] = [askedMs / 1000, (until - since) / 1000];
  const why = `waits at most ${timeoutSeconds} s instead of ${askedSeconds} s: a wait lasts no longer than the agent's waitTimeout, and all waits of a run no longer than ${maxWaitsOfRun} times that`;
  return { askedSeconds, timeoutSeconds, why };
}

/** How long a run waits, in ms: as requested, up to its agent's limit and to the rest of the limit for all its waits. */
export function waitTimes(
  askedSeconds: number | undefined,
  { waitTimeoutSeconds }: Pick<AgentConfig, "waitTimeoutSeconds">,
  waitedMs: number,
): { readonly ms: number; readonly askedMs?: number } {
  const askedMs = Math.round((askedSeconds ?? waitTimeoutSeconds) * 1000);
  const limitMs = Math.round(waitTimeoutSeconds * 1000);
  const left = Math.max(0, maxWaitsOfRun * limitMs - waitedMs);
  const ms = Math.min(askedMs, limitMs, left);
  return ms < askedMs ? { ms, askedMs } : { ms };
}

/** Status text of a waiting run. */
export function waitText({ kind, source, event }: Condition): string {
  const from = source === undefined ? "" : ` from ${source}`;
  if (kind === "agent-call") return `waits for a call${from}`;
  return `waits for ${event === undefined ? "a webhook" : `the webhook ${event}`}${from}`;
}
