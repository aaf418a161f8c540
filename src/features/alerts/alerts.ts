import type { Outcome } from "../../../streams/outcomes.ts";
import type { Acknowledgement, LastingTopic, TargetAnswer, SendAlert } from "./rules/alert.ts";
import type { AlertTarget, AlertOptions } from "../../../streams/alert-options.ts";
import type { AlertStore } from "./alert-store.ts";
import { defer, EMPTY, finalize, ignoreElements, merge, Subject, tap, throttleTime } from "rxjs";
import type { Observable } from "rxjs";
import { v7 as uuidV7 } from "uuid";
import { createAlertRules } from "./rules/alert-rules.ts";
import type { AlertCommand, AlertEvent, AlertRules, BudgetCommand } from "./rules/alert-rules.ts";
import type { Clock } from "../../../streams/clock.ts";
import { drive } from "../../foundation/drive.ts";
import type { RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import type { Question } from "../../foundation/contracts/questions.ts";
import type { BudgetWarning } from "../../foundation/contracts/spend.ts";
import { messageOf } from "../../foundation/errors.ts";
import { alertMessage, testAlert, type MessageDeps } from "./alert-messages.ts";
import { questionDeliveries } from "./question-alerts.ts";
import { createSender } from "./sender.ts";
import { agentScope, runScope } from "../../foundation/contracts/budget.ts";

export interface AlertsDeps extends MessageDeps {
  readonly store: AlertStore;
  /** The targets of the active config. */
  readonly targets: () => readonly AlertTarget[];
  /** Emits when targets or options of the project changed. */
  readonly changed$: Observable<unknown>;
  /** The options of an agent; null for the project as a whole. */
  readonly optionsOf: (agent: string | null) => AlertOptions;
  readonly clock: Clock;
  readonly send: SendAlert;
  /** When an earlier scheduler lived. */
  readonly earlier: EarlierTimes;
  readonly onCounts: (counts: AlertCounts) => void;
  readonly warn: (message: string) => void;
}

/** Counts of open alerts and of dead deliveries. */
export interface AlertCounts {
  readonly open: number;
  readonly dead: number;
}

/** An ended run of an earlier scheduler; `retry` is its repeated work, null if it is not retried. */
export interface LostRun {
  readonly item: WorkItem;
  readonly instanceId: string;
  readonly outcome: Outcome;
  readonly retry: WorkItem | null;
}

/** Between two counts on the status stream, in ms: a storm of failures is one change. */
const countsMs = 250;

/** Turns events into alerts, commits both together, sends the alerts. */
export function createAlerts(deps: AlertsDeps) {
  const { store, targets, timezone, clock, questions } = deps;
  const rules = createAlertRules({
    states: store.states(),
    startedAt: clock.now(),
    optionsOf: deps.optionsOf,
    targets,
    timezone,
    newId: uuidV7,
  });
  const message = alertMessage(deps);
  const changed$ = new Subject<unknown>();
  const isOver = (question: string): boolean => questions.find(question)?.state !== "open";
  const sender = createSender({
    store,
    targets,
    message,
    isOver: ({ alert }) => alert.question !== undefined && isOver(alert.question),
    send: deps.send,
    clock,
    warn: deps.warn,
  });

  const onCommitted = (): void => {
    sender.wake();
    changed$.next(null);
  };
  const { putAll, committed, record, collect, driver } = createWriter(deps, rules, onCommitted);
  const endQuestion = (id: string): void => committed(store.endQuestion(id, clock.now()));
  const onQuestion = (question: Question): void => {
    if (question.state !== "open") return endQuestion(question.id);
    const options = deps.optionsOf(question.agent);
    const deliveries = questionDeliveries(question, targets(), options);
    record({ type: "writes", states: [], deliveries });
  };
  /** By instance, as a failed transaction is repeated and each run counts once. */
  const ofLost = new Map<string, readonly AlertEvent[]>();
  return {
    /** Applies the event; returns the writes for the transaction of its record. */
    onEvent: (event: RunEvent): (() => void) | undefined => {
      const command = usedBudgetCommand(event) ?? ({ type: "run-event", event } as const);
      const events = collect(command);
      return events.length === 0 ? undefined : () => putAll(events);
    },
    /** Writes the alerts for runs that an earlier scheduler left, inside the transaction that records their end. */
    onLost: (lost: readonly LostRun[]): void => {
      for (const { item, instanceId, outcome, retry } of lost) {
        const reason = "the scheduler ended while it ran";
        const command = { item, instanceId, outcome, reason, isRetried: retry !== null };
        const events = ofLost.get(instanceId) ?? collect({ type: "lost", ...command });
        ofLost.set(instanceId, events);
        putAll(events);
      }
    },
    onWarning: (warning: BudgetWarning): void => {
      const command = budgetCommand(warning);
      if (command !== null) driver.apply(command);
    },
    /** Why the project's config is invalid; null once it is valid. */
    onProjectConfig: (error: string | null): void =>
      driver.apply({ type: "project-config", error }),
    operations: createActions(deps, rules, message, collect, onCommitted),
    /** While it is subscribed, alerts are repeated in time and deliveries are sent. */
    effect$: merge(
      deps.changed$.pipe(
        tap(() => {
          driver.apply({ type: "options-changed" });
          onCommitted();
        }),
      ),
      merge(changed$, sender.attempted$).pipe(
        throttleTime(countsMs, undefined, { leading: true, trailing: true }),
        tap(() => count(deps, rules.openCount())),
      ),
      questions.question$.pipe(tap(onQuestion)),
      defer(() => {
        // An earlier scheduler may have ended before their messages were edited.
        store.questions().filter(isOver).forEach(endQuestion);
        const down = downCommand(deps.earlier, clock.now());
        // Plans the project's alerts that an earlier scheduler left.
        driver.apply({ type: "options-changed" });
        if (down !== null) driver.apply(down);
        onCommitted();
        return EMPTY;
      }),
    ).pipe(ignoreElements(), finalize(driver.stop)),
    /** Resolves once attempts on their way are recorded. */
    close: () => sender.close(),
  };
}

/** Times of an earlier scheduler, epoch ms; null before the first one. */
interface EarlierTimes {
  readonly aliveAt: number | null;
  readonly stoppedAt: number | null;
}

/** A stop for less than this, in ms, is a restart. */
const shortestMs = 120_000;

/** The alert for a time without a scheduler; null after a restart and at the first start. A death is always alerted. */
export function downCommand(
  { aliveAt, stoppedAt }: EarlierTimes,
  now: number,
): AlertCommand | null {
  const last = Math.max(aliveAt ?? 0, stoppedAt ?? 0);
  const crashed = (aliveAt ?? 0) > (stoppedAt ?? 0);
  const downMs = Math.max(0, now - last);
  if (last === 0 || (!crashed && downMs < shortestMs)) return null;
  return { type: "scheduler-down", downMs, crashed };
}

/** The alert for a passed percentage; null for a budget of one run, whose end is alerted itself. */
function budgetCommand(warning: BudgetWarning): BudgetCommand | null {
  const { scope, window, percent, usd, limitUsd } = warning;
  if (scope.startsWith(runScope(""))) return null;
  return { type: "budget", agent: agentOf(scope), window, percent, usd, limitUsd };
}

/** A budget that is used up is at 100 %, though a call that it can't pay leaves some of it. */
function usedBudgetCommand(event: RunEvent): BudgetCommand | null {
  if (event.type !== "used-budget" || event.budget === null) return null;
  const { scope, window, usd, limit } = event.budget;
  return { type: "budget", agent: agentOf(scope), window, percent: 100, usd, limitUsd: limit };
}

/** The agent of a budget's scope; null for the project's budget. */
function agentOf(scope: string): string | null {
  const prefix = agentScope("");
  return scope.startsWith(prefix) ? scope.slice(prefix.length) : null;
}

/** Applies commands to the rules, and commits their writes. */
function createWriter(
  { store, clock, warn }: AlertsDeps,
  rules: AlertRules,
  onCommitted: () => void,
) {
  const putAll = (events: readonly AlertEvent[]): void => {
    for (const writes of events) store.put(writes);
    // The commit is done before the next microtask.
    queueMicrotask(onCommitted);
  };
  const committed = (writes: Promise<void>): void => {
    writes.then(onCommitted, (error: unknown) => {
      warn(`an alert is not recorded: ${messageOf(error)}`);
    });
  };
  const record = (event: AlertEvent): void => committed(store.record(event));
  let onWrites = record;
  const driver = drive(rules, clock, (event: AlertEvent) => onWrites(event));
  /** Applies a command whose writes belong to a transaction of the caller's. */
  const collect = (command: AlertCommand): readonly AlertEvent[] => {
    const events: AlertEvent[] = [];
    onWrites = (event) => void events.push(event);
    driver.apply(command);
    onWrites = record;
    return events;
  };
  return { putAll, committed, record, collect, driver };
}

/** Dead deliveries to targets that the project no longer has don't count. */
function count({ store, targets, onCounts, warn }: AlertsDeps, open: number): void {
  try {
    const stored = store.targetDeliveries();
    const dead = targets().reduce((sum, { name }) => sum + (stored.get(name)?.dead ?? 0), 0);
    onCounts({ open, dead });
  } catch (error) {
    // The next change counts again; an unavailable store must not end the scheduler.
    warn(`alerts can't be counted: ${messageOf(error)}`);
  }
}

/** The acts of people on alerts and their targets. */
function createActions(
  { store, targets, clock, send }: AlertsDeps,
  rules: AlertRules,
  message: ReturnType<typeof alertMessage>,
  collect: (command: AlertCommand) => readonly AlertEvent[],
  onCommitted: () => void,
) {
  /** The target accepts again: failed and dead deliveries are sent now. */
  const resumeTarget = async (name: string): Promise<void> => {
    if (store.switchedOff().has(name)) await store.switchOff(name, null);
    await store.retryFailed(name, clock.now());
    onCommitted();
  };

  return {
    store,
    /** The alerts that were opened and not resolved. */
    open: () => rules.open(),
    targets,
    /** Stores that a person takes care of the open alerts of an agent, of all topics for null; `ack` null takes it back. */
    acknowledge: async (
      agent: string | null,
      topic: LastingTopic | null,
      ack: Acknowledgement | null,
    ): Promise<void> => {
      const events = collect({ type: "acknowledge", agent, topic, ack });
      for (const writes of events) await store.record(writes);
      onCommitted();
    },
    /** Sends a dead or waiting delivery now; false if the id is unknown. */
    retry: async (id: string): Promise<boolean> => {
      const isFound = await store.retry(id, clock.now());
      if (isFound) onCommitted();
      return isFound;
    },
    /** Sends a test to one of the targets, now. One that accepts it is switched on again. Never rejects. */
    test: async (name: string): Promise<TargetAnswer> => {
      const target = targets().find((one) => one.name === name);
      if (target === undefined) {
        const error = `the project has no [alerts.${name}]`;
        return { type: "failed", error, afterMs: null };
      }
      const alert = testAlert(clock.now());
      const answer = await send(message({ id: uuidV7(), alert, target: name }), target);
      if (answer.type === "accepted") await resumeTarget(name);
      return answer;
    },
  };
}

/** The scheduler's part of the operations on alerts. */
export type AlertOperationsDeps = ReturnType<typeof createActions>;
