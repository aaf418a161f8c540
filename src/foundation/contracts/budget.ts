import type { Budget } from "../../../streams/agent-config.ts";
import { nanoOfUsd, usdText, type NanoUsd } from "./money.ts";

/** The budgets that apply to the runs of an agent. */
export interface Budgets {
  /** `dayUsd` and `monthUsd` are over all agents; the rest applies where the agent has no value. */
  readonly project: Budget;
  readonly agent: Budget;
  /** IANA name. */
  readonly timezone: string;
}

/** The budgets of an agent; without a valid config, or without an agent, those that only the project sets. */
export function budgetsFor(project: Budget, agent: Budget | undefined, timezone: string): Budgets {
  // The project's day and month are shared: as the agent's own they would be counted and shown twice.
  return { project, agent: agent ?? { ...project, dayUsd: null, monthUsd: null }, timezone };
}

/** The project's budget by default: it ends a runaway run before it costs much. */
export const defaultBudget = {
  runUsd: 10,
  dayUsd: null,
  monthUsd: null,
  turns: null,
  warnAt: [50, 80],
  onLimit: "stop",
} as const satisfies Budget;

/** Spending is counted for `project`, `agent:<name>` and `run:<instance id>`. */
export const projectScope = "project";
export const agentScope = (agent: string): string => `agent:${agent}`;
export const runScope = (instanceId: string): string => `run:${instanceId}`;

/** The only window of a run: all of it. */
export const wholeRun = "run";

/** The limit of one scope in a window of one kind. */
export interface Limit {
  /** Null without a limit: spending is still counted. */
  readonly nano: NanoUsd | null;
  readonly warnAt: readonly number[];
}

export interface Limits {
  readonly run: Limit;
  readonly agentDay: Limit;
  readonly agentMonth: Limit;
  readonly projectDay: Limit;
  readonly projectMonth: Limit;
  readonly turns: number | null;
}

/** The limits that apply to a call of the agent. */
export function limitsOf({ project, agent }: Budgets): Limits {
  const limit = (usd: number | null, { warnAt }: Budget): Limit => ({
    nano: usd === null ? null : nanoOfUsd(usd),
    warnAt,
  });
  return {
    run: limit(agent.runUsd ?? project.runUsd, agent),
    agentDay: limit(agent.dayUsd, agent),
    agentMonth: limit(agent.monthUsd, agent),
    projectDay: limit(project.dayUsd, project),
    projectMonth: limit(project.monthUsd, project),
    turns: agent.turns ?? project.turns,
  };
}

/** Names an account. */
export interface AccountKey {
  /** `project`, `agent:<name>` or `run:<instance id>`. */
  readonly scope: string;
  /** `2026-11-22`, `2026-11`, or `run`. */
  readonly window: string;
  /** Epoch ms at which the window turns; null for a run. */
  readonly endsAt: number | null;
}

/** An account as it is stored. */
export interface StoredAccount {
  readonly spent: NanoUsd;
  /** How much persons added to the limit. */
  readonly raised: NanoUsd;
  /** The highest percentage that caused a warning. */
  readonly warned: number;
  /** Answers of models to a run, and its calls that wait for one. */
  readonly turns: number;
  /** Tokens of a run's requests and answers. */
  readonly tokens: number;
}

/** The command that raises the limits of a scope. */
export function raiseCommand(scope: string): string {
  return `al budget raise ${agentOf(scope) ?? (scope === projectScope ? "project" : scope)} <usd>`;
}

/** The least that a rejected call needs, in words. */
export function neededText(needed: NanoUsd): string {
  return `the call needs at least ${usdText(needed)}`;
}

/** Which budget it is, for a reader who knows the agent: `daily budget`, `the project's monthly budget`. */
export function budgetName({ scope, window }: Pick<AccountKey, "scope" | "window">): string {
  if (scope.startsWith(runScope(""))) return "this run's budget";
  const name = `${window.length > "2026-11".length ? "daily" : "monthly"} budget`;
  return scope === projectScope ? `the project's ${name}` : name;
}

/** A budget that pays no call. */
export interface UsedUp extends AccountKey {
  readonly spent: NanoUsd;
  readonly cap: NanoUsd;
  /** The amount reserved by open calls. */
  readonly reserved?: NanoUsd;
  /** The least that the rejected call needs; absent if all is spent. */
  readonly needed?: NanoUsd;
}

/** `daily budget too small for the next call: $0.00 of $0.05 spent, the call needs at least $0.26`, or `… used up: …`. */
export function usedUpText({ spent, cap, reserved = 0, needed, ...account }: UsedUp): string {
  const state = needed === undefined || spent >= cap ? "used up" : "too small for the next call";
  return [
    `${budgetName(account)} ${state}: ${usdText(spent)} of ${usdText(cap)} spent`,
    ...(reserved === 0 ? [] : [`${usdText(reserved)} reserved by open calls`]),
    ...(needed === undefined ? [] : [neededText(needed)]),
  ].join(", ");
}

export function agentOf(scope: string): string | null {
  const prefix = agentScope("");
  return scope.startsWith(prefix) ? scope.slice(prefix.length) : null;
}

/** Keys by which spending is grouped. */
export const spendKeys = ["agent", "model", "day"] as const;
export type SpendKey = (typeof spendKeys)[number];

/** The most that one request adds, in USD. */
export const maxRaiseUsd = 1_000_000;
