import { setTimeout as wait } from "node:timers/promises";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import { durationText } from "../../foundation/contracts/format.ts";
import { messageOf } from "../../foundation/errors.ts";

export interface HealthDeps {
  /** How late the event loop is, in ms. */
  readonly loopLag: () => Promise<number>;
  /** A small write of its own; resolves once it is durable. */
  readonly write: () => Promise<void>;
  readonly agents: () => Iterable<Pick<AgentRecord, "name" | "nextRunAt">>;
  /** Epoch ms. */
  readonly now: () => number;
}

export interface Health {
  readonly lagMs: number;
  /** What is wrong with the scheduler; null while it is well. */
  readonly problem: { readonly about: "loop" | "store" | "cron"; readonly text: string } | null;
}

/** The event loop may be this late, in ms: a page or a delivery that waits longer seems to be lost. */
const maxLagMs = 1_000;
/** A tick may be this late, in ms: the clock of all schedules sleeps as long before it notices that the time was set. */
const maxOverdueMs = 30_000;

/** Whether the scheduler does its work: its event loop responds, its store takes writes, its schedules are on time. */
export async function checkHealth({ loopLag, write, agents, now }: HealthDeps): Promise<Health> {
  const lagMs = await loopLag();
  const unwell = (about: "loop" | "store" | "cron", text: string): Health => {
    return { lagMs, problem: { about, text } };
  };
  if (lagMs > maxLagMs) return unwell("loop", `its event loop is late by ${durationText(lagMs)}`);
  try {
    await write();
  } catch (error) {
    return unwell("store", `its store takes no writes: ${messageOf(error)}`);
  }
  const overdue = [...agents()].filter(
    ({ nextRunAt }) => nextRunAt !== null && nextRunAt < now() - maxOverdueMs,
  );
  const [first] = overdue;
  if (first === undefined) return { lagMs, problem: null };
  const others = overdue.length === 1 ? "" : ` and ${overdue.length - 1} more`;
  return unwell("cron", `the schedule of ${first.name}${others} is overdue`);
}

const lagTimers = 5;
const lagTimerMs = 100;

/** By how much timers are late, in ms: the latest of a few, one after another. */
export async function loopLag(): Promise<number> {
  let lagMs = 0;
  for (let timer = 0; timer < lagTimers; timer += 1) {
    const from = performance.now();
    await wait(lagTimerMs);
    lagMs = Math.max(lagMs, performance.now() - from - lagTimerMs);
  }
  return lagMs;
}
