import { createMachine } from "../machine.ts";
import type { Machine } from "../machine.ts";
import type { AlertCommand, AlertEvent, OpenAlert } from "./alert-command.ts";
import type { AlertOptions, AlertTarget } from "./alert-options.ts";
import type { RuleState } from "./alert.ts";

export interface AlertRulesDeps {
  /** What the rules of an earlier scheduler knew. */
  readonly states: readonly RuleState[];
  /** When this scheduler started, epoch ms. */
  readonly startedAt: number;
  /** Of an agent; null for the project as a whole. Read whenever it matters. */
  readonly optionsOf: (agent: string | null) => AlertOptions;
  readonly targets: () => readonly AlertTarget[];
  /** IANA name. */
  readonly timezone: () => string;
  /** Of a delivery: a UUID. */
  readonly newId: () => string;
}

export interface AlertRules extends Machine<AlertCommand, AlertEvent> {
  /** What is wrong now, the longest first. */
  open(): readonly OpenAlert[];
}

/** What decides when an alert opens, is repeated and resolves. */
export const createAlertRules: (deps: AlertRulesDeps) => AlertRules = () => {
  const machine = createMachine<AlertCommand, AlertEvent>(() => () => undefined);
  return { ...machine, open: () => [] };
};
