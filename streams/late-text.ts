import { durationText } from "./duration-text.ts";
import type { WorkItem } from "./vocabulary.ts";

type Try = Pick<WorkItem, "trigger" | "attempt">;

/** Why a tick waits for a slot of the project or a runner of its agent; null for other work, also for a retry or rerun of such a tick. */
export function slotsText({ trigger, attempt }: Try) {
  if (trigger.kind !== "cron" || trigger.rerun !== undefined || attempt > 1) return null;
  const { slotsInUse, runnersBusy } = trigger;
  if (runnersBusy === true) return "all runners of the agent were busy";
  if (slotsInUse === undefined) return null;
  return slotsInUse === 1
    ? "the only slot of the project was in use"
    : `all ${slotsInUse} slots of the project were in use`;
}

/** How long such a tick waited, and why; null for other work. `startedAt` is epoch ms. */
export function lateText(item: Try & { readonly at: number }, startedAt: number): string | null {
  const why = slotsText(item);
  return why === null ? null : `${durationText(startedAt - item.at)} late: ${why}`;
}
