import type { OnLimit } from "./agent-config.ts";

/** Spending of all runs of an agent in a calendar day of the project's time zone. */
export interface DaySpend {
  /** US dollars. */
  readonly usd: number;
  /** When the day is over, epoch ms. */
  readonly endsAt: number;
}

/** A used-up budget: until its window turns or it is raised, no new run of an agent could call a model. */
export interface UsedBudget {
  /** `project` or `agent:<name>`. */
  readonly scope: string;
  /** A day (`2026-11-22`) or a month (`2026-11`). */
  readonly window: string;
  /** When the window turns, epoch ms. */
  readonly endsAt: number;
  /** Spent, US dollars. */
  readonly usd: number;
  /** US dollars, including raises. */
  readonly limit: number;
  /** The least that its rejected call needs, US dollars; absent if all is spent. */
  readonly needed?: number;
  readonly onLimit: OnLimit;
}
