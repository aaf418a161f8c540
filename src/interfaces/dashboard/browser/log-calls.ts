import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { durationText } from "../../../foundation/contracts/format.ts";
import { kindOf } from "../../../foundation/contracts/log-kinds.ts";
import { create, setText } from "./dom.ts";
import type { LogRow } from "./log-row.ts";

/** The calls that run, as far as the lines of the log show. */
export interface RunningCalls {
  /** Adds the line to the row of its call; false when it needs a row of its own. */
  join(entry: LogEntry): boolean;
  /** Takes each line that got a row. */
  added(entry: LogEntry, row: LogRow): void;
  /** Shows none as running any more. */
  clear(): void;
}

interface RunningCall {
  readonly instance: string;
  readonly startedAt: number;
  /** Beside the call's line; null where that line is not on the page. */
  readonly clock: HTMLElement | null;
  live: LogRow | null;
  /** How long it ran at its last line. */
  knownMs: number;
}

export function createRunningCalls(): RunningCalls {
  const calls = new Map<string, RunningCall>();
  let timer: ReturnType<typeof setInterval> | undefined;

  const end = (key: string, call: RunningCall): void => {
    call.clock?.remove();
    call.live?.fold();
    calls.delete(key);
  };
  const tick = (): void => {
    const now = Date.now();
    for (const { clock, startedAt, knownMs } of calls.values()) {
      const ms = Math.max(now - startedAt, knownMs);
      if (clock === null) continue;
      setText(clock, durationText(Math.floor(ms / 1000) * 1000));
      clock.hidden = ms < 1000 || ms > lastSignMs(knownMs);
    }
    if (calls.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const begin = (key: string, entry: LogEntry, row: LogRow | null): RunningCall => {
    const clock = row === null ? null : create("span", "facts elapsed");
    if (clock !== null) row?.element.querySelector(".content")?.append(clock);
    const call = {
      instance: entry.instanceId ?? "",
      startedAt: entry.time - knownMsOf(entry),
      clock,
      live: null,
      knownMs: 0,
    };
    calls.set(key, call);
    timer ??= setInterval(tick, 1000);
    return call;
  };

  return {
    join: (entry) => {
      const call = kindOf(entry) === "tool-output" ? calls.get(keyOf(entry)) : undefined;
      if (call === undefined) return false;
      call.knownMs = knownMsOf(entry);
      call.live?.join(entry);
      tick();
      return call.live !== null;
    },
    added: (entry, row) => {
      const key = keyOf(entry);
      const known = calls.get(key);
      switch (kindOf(entry)) {
        case "tool":
          if (known !== undefined) end(key, known);
          if (typeof entry.call === "string") begin(key, entry, row);
          break;
        case "tool-output":
          (known ?? begin(key, entry, null)).live = row;
          break;
        case "tool-result":
        case "hook":
          if (known !== undefined) end(key, known);
          break;
        case "run":
          if (typeof entry.outcome !== "string") break;
          for (const [id, call] of calls) if (call.instance === entry.instanceId) end(id, call);
          break;
      }
      tick();
    },
    clear: () => {
      for (const [key, call] of calls) end(key, call);
      tick();
    },
  };
}

function keyOf({ instanceId, call }: LogEntry): string {
  return JSON.stringify([instanceId, call]);
}

function knownMsOf({ kind, durationMs }: LogEntry): number {
  return kind === "tool-output" && typeof durationMs === "number" ? durationMs : 0;
}

/** A call that runs is logged after 10 s and each doubling at the latest; one that is not has lost its process. */
function lastSignMs(knownMs: number): number {
  return Math.max(10_000, 2 * knownMs) * 1.05 + 5_000;
}
