import { defer, EMPTY, finalize, ignoreElements, merge, Subject, tap, throttleTime } from "rxjs";
import type { Observable } from "rxjs";
import { v7 as uuidV7 } from "uuid";
import type { AlertCommand, AlertEvent } from "./rules/alert-command.ts";
import { createAlertRules } from "./rules/alert-rules.ts";
import type { AlertOptions, AlertTarget } from "../../../streams/alert-options.ts";
import type { Clock } from "../../../streams/clock.ts";
import { drive } from "../../../streams/machine.ts";
import type { Outcome, RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import type { AlertOperationsDeps } from "../../foundation/contracts/alert-operations.ts";
import type { AlertStore, SendAlert } from "../../foundation/contracts/alerts.ts";
import type { BudgetWarning } from "../../foundation/contracts/spend.ts";
import { messageOf } from "../../foundation/errors.ts";
import { alertMessage, testAlert } from "./alert-messages.ts";
import type { MessageDeps } from "./alert-messages.ts";
import { budgetCommand, downCommand, usedBudgetCommand } from "./alert-commands.ts";
import type { EarlierTimes } from "./alert-commands.ts";
import { createSender } from "./sender.ts";

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

/** Alerts that were opened and not resolved, and deliveries that were given up. */
export interface AlertCounts {
  readonly open: number;
  readonly dead: number;
}

/** A run that an earlier scheduler left, and that is over; `retry` is its work once more, null for none. */
export interface LostRun {
  readonly item: WorkItem;
  readonly instanceId: string;
  readonly outcome: Outcome;
  readonly retry: WorkItem | null;
}

export interface Alerts {
  /** Applies the event; returns what is to be written inside the transaction of its record. */
  readonly onEvent: (event: RunEvent) => (() => void) | undefined;
  /** Writes what the end of runs led to that an earlier scheduler left, inside the transaction that records it. */
  readonly onLost: (lost: readonly LostRun[]) => void;
  readonly onWarning: (warning: BudgetWarning) => void;
  /** Why the project's config is invalid; null once it is valid. */
  readonly onProjectConfig: (error: string | null) => void;
  readonly operations: AlertOperationsDeps;
  /** While it is subscribed, alerts are repeated in time and deliveries are sent. */
  readonly effect$: Observable<never>;
  /** Resolves once attempts on their way are recorded. */
  readonly close: () => Promise<void>;
}

/** Between two counts on the status stream, in ms: a storm of failures is one change. */
const countsMs = 250;

/** Turns events into alerts, commits both together, sends the alerts. */
export function createAlerts(deps: AlertsDeps): Alerts {
  const { store, targets, timezone, clock, warn } = deps;
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
  const sender = createSender({
    store,
    targets,
    message: ({ id, alert }) => message(id, alert),
    send: deps.send,
    clock,
    onProblem: warn,
  });

  const onCommitted = (): void => {
    sender.wake();
    changed$.next(null);
  };
  const putAll = (events: readonly AlertEvent[]): void => {
    for (const writes of events) store.put(writes);
    // The commit is done before the next microtask.
    queueMicrotask(onCommitted);
  };
  const record = (event: AlertEvent): void => {
    store.record(event).then(onCommitted, (error: unknown) => {
      warn(`an alert is not recorded: ${messageOf(error)}`);
    });
  };
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
  /** What was given up for a target that the project no longer has is no reason to look. */
  const count = (): void => {
    try {
      const stored = store.targetDeliveries();
      const dead = targets().reduce((sum, { name }) => sum + (stored.get(name)?.dead ?? 0), 0);
      deps.onCounts({ open: rules.openCount(), dead });
    } catch (error) {
      // It is counted again with the next change; a store that is away must not end the scheduler.
      warn(`alerts can't be counted: ${messageOf(error)}`);
    }
  };
  /** By instance: a transaction that fails is tried again, and each run counts once. */
  const ofLost = new Map<string, readonly AlertEvent[]>();
  /** The target accepts again: what failed or was given up is sent now. */
  const resumeTarget = async (name: string): Promise<void> => {
    if (store.switchedOff().has(name)) await store.switchOff(name, null);
    await store.retryFailed(name, clock.now());
    onCommitted();
  };

  return {
    onEvent: (event) => {
      const command = usedBudgetCommand(event) ?? ({ type: "run-event", event } as const);
      const events = collect(command);
      return events.length === 0 ? undefined : () => putAll(events);
    },
    onLost: (lost) => {
      for (const { item, instanceId, outcome, retry } of lost) {
        const reason = "the scheduler ended while it ran";
        const command = { item, instanceId, outcome, reason, isRetried: retry !== null };
        const events = ofLost.get(instanceId) ?? collect({ type: "lost", ...command });
        ofLost.set(instanceId, events);
        putAll(events);
      }
    },
    onWarning: (warning) => {
      const command = budgetCommand(warning);
      if (command !== null) driver.apply(command);
    },
    onProjectConfig: (error) => driver.apply({ type: "project-config", error }),
    operations: {
      store,
      open: () => rules.open(),
      targets,
      retry: async (id) => {
        const isFound = await store.retry(id, clock.now());
        if (isFound) onCommitted();
        return isFound;
      },
      test: async (name) => {
        const target = targets().find((one) => one.name === name);
        if (target === undefined) {
          const error = `the project has no [alerts.${name}]`;
          return { type: "failed", error, afterMs: null };
        }
        const answer = await deps.send(message(uuidV7(), testAlert(clock.now())), target);
        if (answer.type === "accepted") await resumeTarget(name);
        return answer;
      },
    },
    effect$: merge(
      // What was planned by a clock that was wrong is planned anew.
      merge(deps.changed$, clock.setBack$).pipe(
        tap(() => {
          driver.apply({ type: "options-changed" });
          onCommitted();
        }),
      ),
      merge(changed$, sender.attempted$).pipe(
        throttleTime(countsMs, undefined, { leading: true, trailing: true }),
        tap(count),
      ),
      defer(() => {
        const down = downCommand(deps.earlier, clock.now());
        // An earlier scheduler's clock may have been ahead of this one's.
        driver.apply({ type: "options-changed" });
        if (down !== null) driver.apply(down);
        onCommitted();
        return EMPTY;
      }),
    ).pipe(ignoreElements(), finalize(driver.stop)),
    close: () => sender.close(),
  };
}
