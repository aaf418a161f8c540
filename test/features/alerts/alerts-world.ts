import { Subject } from "rxjs";
import { createAlertStore } from "../../../src/features/alerts/alert-store.ts";
import {
  createAlerts,
  type AlertCounts,
  type AlertsDeps,
} from "../../../src/features/alerts/alerts.ts";
import type { AlertMessage } from "../../../src/features/alerts/rules/alert.ts";
import type { Store } from "../../../src/foundation/store/store.ts";
import { createClock } from "../../../streams/clock.ts";
import { tempStore } from "../../foundation/store/support.ts";
import { VirtualCalendar } from "../../helpers/marbles.ts";
import { aTarget, defaultOptions } from "./rules/alerts.ts";
import { noQuestions } from "./samples.ts";
import { accepted } from "./sender-world.ts";

interface AlertsWorldOptions extends Partial<Omit<AlertsDeps, "store">> {
  readonly store?: Store;
  /** ISO 8601. */
  readonly startsAt?: string;
}

/** Alerts to ops over a real store, in virtual time. */
export function alertsWorld({
  store = tempStore(),
  startsAt = "2026-11-22T12:00:00Z",
  send = () => Promise.resolve(accepted),
  ...changed
}: AlertsWorldOptions = {}) {
  const alertStore = store.tables(createAlertStore);
  const sent: { readonly to: string; readonly message: AlertMessage }[] = [];
  const counts: AlertCounts[] = [];
  const problems: string[] = [];
  const calendar = new VirtualCalendar(startsAt);
  const alerts = createAlerts({
    store: alertStore,
    targets: () => [aTarget("ops")],
    changed$: new Subject(),
    optionsOf: () => defaultOptions,
    clock: createClock(calendar),
    send: (message, target) => {
      sent.push({ to: target.name, message });
      return send(message, target);
    },
    projectName: "acme",
    origin: () => "https://al.example.test/al/",
    timezone: () => "UTC",
    questions: noQuestions,
    filesOf: () => 0,
    earlier: { aliveAt: null, stoppedAt: null },
    onCounts: (one) => counts.push(one),
    warn: (problem) => problems.push(problem),
    ...changed,
  });
  return {
    store,
    alertStore,
    alerts,
    sent,
    counts,
    problems,
    /** Subscribes until the test ends. */
    live: () => {
      const subscription = alerts.effect$.subscribe();
      onTestFinished(async () => {
        subscription.unsubscribe();
        await alerts.close();
      });
    },
    elapse: (ms = 10) => calendar.runUntil(new Date(calendar.now() + ms).toISOString()),
    stored: () => alertStore.list({ limit: 9 }),
  };
}
