import {
  defer,
  EMPTY,
  finalize,
  ignoreElements,
  merge,
  skip,
  Subject,
  tap,
  throttleTime,
} from "rxjs";
import type { Observable } from "rxjs";
import { v7 as uuidV7 } from "uuid";
import type { AlertCommand, AlertEvent } from "../../streams/alerts/alert-command.ts";
import { createAlertRules } from "../../streams/alerts/alert-rules.ts";
import type { AlertOptions } from "../../streams/alerts/alert-options.ts";
import type { Clock } from "../../streams/clock.ts";
import { drive } from "../../streams/machine.ts";
import type { RunEvent } from "../../streams/vocabulary.ts";
import { createSender } from "../alerts/sender.ts";
import type { ProjectConfig } from "../config/project-config.ts";
import type { AlertOperationsDeps } from "../contracts/alert-operations.ts";
import type { AlertStore, SendAlert } from "../contracts/alerts.ts";
import type { BudgetWarning } from "../contracts/spend.ts";
import { messageOf } from "../errors.ts";
import type { Recovered } from "../store/recover.ts";
import type { Also } from "../store/work.ts";
import { alertMessage, testAlert, titleOf } from "./alert-messages.ts";
import type { MessageDeps } from "./alert-messages.ts";
import { budgetCommand, downCommand, usedBudgetCommand } from "./alert-commands.ts";
import type { EarlierTimes } from "./alert-commands.ts";
import type { StatusStore } from "./status-store.ts";

export interface AlertsDeps extends MessageDeps {
  readonly store: AlertStore;
  readonly project$: Observable<ProjectConfig> & { readonly value: ProjectConfig };
  /** Of an agent; null for the project as a whole. */
  readonly optionsOf: (agent: string | null) => AlertOptions;
  readonly status: Pick<StatusStore, "apply">;
  readonly clock: Clock;
  readonly send: SendAlert;
  /** When an earlier scheduler lived. */
  readonly earlier: EarlierTimes;
  readonly warn: (message: string) => void;
}

export interface Alerts {
  /** Applies the event; returns what is to be committed with its record. */
  readonly onEvent: (event: RunEvent) => Also | undefined;
  /** Writes what the end of runs led to that an earlier scheduler left, inside the transaction that records it. */
  readonly onLost: (lost: Recovered["lost"]) => void;
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

/** What the rules of alerts make of events, committed with these, and sent. */
export function createAlerts(deps: AlertsDeps): Alerts {
  const { store, project$, status, clock, warn } = deps;
  const rules = createAlertRules({
    states: store.states(),
    startedAt: clock.now(),
    optionsOf: deps.optionsOf,
    targets: () => project$.value.alerts,
    timezone: () => project$.value.timezone,
    newId: uuidV7,
  });
  const message = alertMessage(deps);
  const changed$ = new Subject<unknown>();
  const targets = (): ProjectConfig["alerts"] => project$.value.alerts;
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
  const patchCounts = (): void => {
    const alerts = { open: rules.open().length, dead: store.counts().dead };
    status.apply({ type: "scheduler", patch: { alerts } });
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
        const isRetried = retry !== null;
        putAll(collect({ type: "lost", item, instanceId, outcome, reason, isRetried }));
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
      title: (alert) => titleOf(alert, project$.value.timezone),
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
        if (answer.type === "accepted" && store.switchedOff().has(name)) {
          await store.switchOff(name, null);
          onCommitted();
        }
        return answer;
      },
    },
    effect$: merge(
      project$.pipe(
        skip(1),
        tap(() => {
          driver.apply({ type: "options-changed" });
          onCommitted();
        }),
      ),
      merge(changed$, sender.attempted$).pipe(
        throttleTime(countsMs, undefined, { leading: true, trailing: true }),
        tap(patchCounts),
      ),
      defer(() => {
        const down = downCommand(deps.earlier, clock.now());
        if (down !== null) driver.apply(down);
        onCommitted();
        return EMPTY;
      }),
    ).pipe(ignoreElements(), finalize(driver.stop)),
    close: () => sender.close(),
  };
}
