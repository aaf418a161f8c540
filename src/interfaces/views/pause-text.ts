import type { SchedulerStatus } from "../../../streams/status/wire.ts";
import { relativeTime } from "../../foundation/contracts/format.ts";

export type PauseStatus = Pick<SchedulerStatus, "paused" | "pausedWork" | "pausedAt">;

/** The subject and the effect of a pause, for a person. */
export function pauseWords(work: boolean): readonly [what: string, effect: string] {
  if (!work) return ["Schedules", "Scheduled runs are skipped. Other work runs."];
  return [
    "All new work",
    "Webhooks, calls and retries wait for a resume. Scheduled runs are skipped, manual starts are rejected.",
  ];
}

/** `All new work paused`, to be followed by when. */
export function pausedWords({ pausedWork }: PauseStatus): string {
  return `${pauseWords(pausedWork)[0]} paused`;
}

/** The pause in words: subject, time and effect; null without a pause. `now` is epoch ms. */
export function pauseText(pause: PauseStatus, now: number): string | null {
  const { paused, pausedWork, pausedAt } = pause;
  if (!paused) return null;
  const ago = pausedAt === null ? "" : ` ${relativeTime(Date.parse(pausedAt), now)}`;
  return `${pausedWords(pause)}${ago}. ${pauseWords(pausedWork)[1]} Resume with al resume.`;
}
