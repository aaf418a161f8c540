import type { Outcome, RunEvent, WorkItem } from "../../../../streams/vocabulary.ts";
import type { AlertWrites } from "../../../foundation/contracts/alert.ts";

/** What alerts are about. */
export type AlertCommand =
  /** Events that report no fault change nothing. */
  | { readonly type: "run-event"; readonly event: RunEvent }
  /** The end of a run that an earlier scheduler left, and that no event says. */
  | {
      readonly type: "lost";
      readonly item: WorkItem;
      readonly instanceId: string;
      readonly outcome: Outcome;
      readonly reason: string | null;
      /** Whether its work is tried once more. */
      readonly isRetried: boolean;
    }
  /** A budget passed a percentage that warns; comes once a window. */
  | BudgetCommand
  /** Why the project's config.toml is invalid, in one line; null once it is valid. */
  | { readonly type: "project-config"; readonly error: string | null }
  /** At a start: for how long no scheduler was up. */
  | { readonly type: "scheduler-down"; readonly downMs: number; readonly crashed: boolean }
  /**
   * Targets, or the project's own options, are others now; or the clock was set back, maybe while no scheduler was up. The
   * options of an agent come with its `agent-set`.
   */
  | { readonly type: "options-changed" };

export interface BudgetCommand {
  readonly type: "budget";
  /** The agent whose budget it is; null for the project's. */
  readonly agent: string | null;
  /** A day (`2026-11-22`) or a month (`2026-11`). */
  readonly window: string;
  readonly percent: number;
  /** Spent, US dollars. */
  readonly usd: number;
  readonly limitUsd: number;
}

/** To be stored together with what the command was about. */
export type AlertEvent = { readonly type: "writes" } & AlertWrites;
