import type { Outcome } from "../../../../streams/outcomes.ts";
import { createAlertRules } from "../../../../src/features/alerts/rules/alert-rules.ts";
import type {
  AlertRules,
  AlertRulesDeps,
  AlertCommand,
} from "../../../../src/features/alerts/rules/alert-rules.ts";
import type { AlertOptions, AlertTarget } from "../../../../streams/alert-options.ts";
import type { Alert, Delivery, RuleState } from "../../../../src/features/alerts/rules/alert.ts";
import type { RunEvent } from "../../../../streams/vocabulary.ts";
import { anItem } from "../../../helpers/agents.ts";
import { aProblem, eventsOf } from "../../../streams/status/events.ts";

/** Agent dev failed at 14:05 UTC; the test gives other fields. */
export function anAlert(more: Partial<Alert> = {}): Alert {
  const at = Date.parse("2026-11-22T14:05:00Z");
  return {
    topic: "runs",
    phase: "opened",
    agent: "dev",
    at,
    since: at,
    reason: "exited with code 1",
    count: 1,
    outcome: "failed",
    instanceId: "dev-abcdefgh",
    costUsd: 0.12,
    agents: [],
    ...more,
  };
}

export function aTarget(name: string, more: Partial<AlertTarget> = {}): AlertTarget {
  const credential = "slack_webhook";
  return { name, type: "slack", credential, to: [], answers: [], quietHours: null, ...more };
}

export const defaultOptions: AlertOptions = {
  to: null,
  after: 1,
  remindMs: null,
  noSuccessForMs: null,
};

/** One target, ops, and the defaults but for the reminders. */
export function rulesDeps(more: Partial<AlertRulesDeps> = {}): AlertRulesDeps {
  let ids = 0;
  return {
    states: [],
    startedAt: 0,
    optionsOf: () => defaultOptions,
    targets: () => [aTarget("ops")],
    timezone: () => "UTC",
    newId: () => String(++ids),
    ...more,
  };
}

export const runEvent = (event: RunEvent): AlertCommand => ({ type: "run-event", event });

/** A run of the agent ended. */
export function ended(
  agent: string,
  outcome: Outcome = "failed",
  reason: string | null = "exited with code 1",
): AlertCommand {
  return runEvent(eventsOf(agent).finished(outcome, outcome === "succeeded" ? null : reason));
}

/** The agent was loaded, or its config changed. */
export const set = (agent: string): AlertCommand => runEvent(eventsOf(agent).set());

const dev = eventsOf("dev");

function lost(isRetried: boolean): AlertCommand {
  const item = anItem("1");
  return {
    type: "lost",
    item,
    instanceId: "dev-1",
    outcome: "lost",
    reason: "gone",
    isRetried,
  };
}

/** The commands of diagrams. */
export const agentCommands: Readonly<Record<string, AlertCommand>> = {
  s: set("dev"),
  x: ended("dev"),
  t: ended("dev", "timed_out"),
  m: ended("dev", "out_of_memory"),
  b: ended("dev", "over_budget"),
  o: ended("dev", "succeeded"),
  k: ended("dev", "killed"),
  i: ended("dev", "interrupted"),
  l: lost(true),
  L: lost(false),
  S: runEvent(dev.refused("skipped")),
  c: runEvent(dev.invalid(aProblem())),
  C: set("dev"),
  p: { type: "project-config", error: "config.toml:1:1  scale is not a number" },
  P: { type: "project-config", error: null },
  f: runEvent(dev.buildFinished("no such base image")),
  F: runEvent(dev.buildFinished()),
  u: runEvent(dev.requirements(aProblem())),
  w: runEvent(dev.requirements(aProblem({ severity: "warning" }))),
  U: runEvent(dev.requirements()),
  y: runEvent(dev.blocked("no space left")),
  Y: runEvent(dev.blocked(null)),
  z: runEvent(dev.blocked("no space left", "dev-2")),
  Z: runEvent(dev.blocked(null, "dev-2")),
  d: runEvent(dev.enabled(false)),
  e: runEvent(dev.enabled(true)),
  r: runEvent(dev.removed()),
};

/** `dev runs opened 1`. */
export function shortly({ agent, topic, phase, count }: Alert): string {
  return [agent ?? "project", topic, phase, count].join(" ");
}

/** Rules in a time that a test sets, with their stored states and deliveries. */
export interface Timeline {
  readonly rules: AlertRules;
  /** Applies commands at a time, epoch ms, after all that is due until then. */
  at(time: number, ...commands: readonly AlertCommand[]): void;
  /** By id. */
  readonly deliveries: ReadonlyMap<string, Delivery>;
  /** As the store has them. */
  states(): readonly RuleState[];
  /** `<when due> <target> <alert>` of each delivery. */
  sent(): readonly string[];
}

export function timeline(deps: Partial<AlertRulesDeps> = {}): Timeline {
  const all = rulesDeps(deps);
  const rules = createAlertRules(all);
  const deliveries = new Map<string, Delivery>();
  const states = new Map(all.states.map((state) => [`${state.agent}/${state.rule}`, state]));
  /** The start, or the time that the clock was set back to. */
  let earliest = all.startedAt;
  const store = (events: ReturnType<AlertRules["elapse"]>) => {
    for (const event of events) {
      for (const one of event.deliveries) deliveries.set(one.id, one);
      for (const one of event.states) {
        if (one.value === null) states.delete(`${one.agent}/${one.rule}`);
        else states.set(`${one.agent}/${one.rule}`, one);
      }
    }
  };
  return {
    rules,
    deliveries,
    at: (time, ...commands) => {
      earliest = Math.min(earliest, time);
      for (let due = rules.nextDue(); due <= time; due = rules.nextDue()) {
        store(rules.elapse(Math.max(due, earliest)));
      }
      for (const command of commands) store(rules.apply(command, time));
    },
    states: () => [...states.values()],
    sent: () =>
      [...deliveries.values()].map(
        ({ nextAt, target, alert }) => `${nextAt} ${target} ${shortly(alert)}`,
      ),
  };
}
