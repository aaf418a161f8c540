import type { Wait } from "../../foundation/contracts/run-state.ts";
import type { Condition } from "../../foundation/contracts/condition.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { maxWaitsOfRun } from "../../foundation/contracts/run-api.ts";
import type { RequestAnswer } from "../../foundation/contracts/run-api.ts";

/** The answer to a wait that is over: what met it, or null when its time was up. */
export function waitAnswer(
  wait: Pick<Wait, "since" | "until" | "askedMs">,
  trigger: Readonly<Record<string, unknown>> | null,
): RequestAnswer<"wait"> {
  const limited = limitOf(wait);
  const shorter = limited === null ? {} : { limited };
  return { ok: true, timedOut: trigger === null, ...shorter, trigger };
}

/** By how much a wait is shorter than it was to be, and why; null for one that lasts as long as it was to. */
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

/** How long a run waits, in ms: as it asks, up to its agent's limit and to what it has left of all its waits. */
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

/** What a run waits for, for people. */
export function waitText({ kind, source, event }: Condition): string {
  const from = source === undefined ? "" : ` from ${source}`;
  if (kind === "agent-call") return `waits for a call${from}`;
  return `waits for ${event === undefined ? "a webhook" : `the webhook ${event}`}${from}`;
}
