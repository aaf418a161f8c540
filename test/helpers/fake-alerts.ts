import { Problem } from "../../src/foundation/errors.ts";
import type {
  AckRequest,
  AlertDeliveryView,
  AlertsQuery,
  AlertsReport,
  AlertTargetView,
  AlertTested,
  OpenAlertView,
} from "../../src/features/alerts/alerts-report.ts";

/** Alerts that a test sets, and that change as the real ones do. */
export interface FakeAlerts {
  targets: readonly AlertTargetView[];
  open: readonly OpenAlertView[];
  /** Newest first. */
  deliveries: readonly AlertDeliveryView[];
  /** A target's answer to a test. */
  answer: AlertTested;
  page(query: AlertsQuery): AlertsReport;
  acknowledge(request: AckRequest): Promise<void>;
  retry(id: string): Promise<void>;
  retryAll(): Promise<number>;
  test(name: string): Promise<AlertTested>;
}

export function aTarget(name: string, changes: Partial<AlertTargetView> = {}): AlertTargetView {
  const healthy = { state: "ok", waiting: 0, dead: 0, lastError: null, offSince: null } as const;
  return { name, type: "slack", ...healthy, ...changes };
}

/** The nth delivery of a project, one a minute; it arrived. */
export function aDelivery(
  n: number,
  changes: Partial<AlertDeliveryView> = {},
  now = Date.now(),
): AlertDeliveryView {
  const at = new Date(now - n * 60_000).toISOString();
  return {
    id: `0198c0de-0000-4000-8000-${String(n).padStart(12, "0")}`,
    at,
    target: "ops",
    agent: "dev",
    topic: "runs",
    phase: "opened",
    title: "dev failed",
    reason: "exited with code 1",
    instanceId: "dev-aaaaaaaa",
    state: "sent",
    attempts: 1,
    nextAt: null,
    lastError: null,
    endedAt: at,
    ...changes,
  };
}

export function fakeAlerts(): FakeAlerts {
  const fake: FakeAlerts = {
    targets: [],
    open: [],
    deliveries: [],
    answer: { accepted: true, error: null },
    page: ({ state, target, before, limit }) => {
      const matching = fake.deliveries
        .filter((one) => state === undefined || one.state === state)
        .filter((one) => target === undefined || one.target === target);
      const from = matching.findIndex(({ id }) => id === before) + 1;
      const deliveries = matching.slice(from, from + limit);
      const isLast = from + limit >= matching.length;
      const next = isLast ? null : (deliveries.at(-1)?.id ?? null);
      return { targets: fake.targets, open: fake.open, deliveries, next };
    },
    acknowledge: ({ agent, topic, by = "", until = null, undo }) => {
      const isMeant = (one: OpenAlertView): boolean =>
        one.agent === agent && (topic ?? one.topic) === one.topic;
      if (!fake.open.some(isMeant)) {
        return Promise.reject(new Problem("unknown_alert", "no such alert is open"));
      }
      const ack = undo ? null : { by, at: new Date().toISOString(), until };
      fake.open = fake.open.map((one) => (isMeant(one) ? { ...one, ack } : one));
      return Promise.resolve();
    },
    retry: (id) => {
      const found = fake.deliveries.find((one) => one.id === id && one.state !== "sent");
      if (found === undefined) {
        return Promise.reject(new Problem("unknown_delivery", `no delivery "${id}"`));
      }
      const due = { state: "waiting", nextAt: new Date().toISOString(), endedAt: null } as const;
      fake.deliveries = fake.deliveries.map((one) => (one === found ? { ...one, ...due } : one));
      return Promise.resolve();
    },
    retryAll: async () => {
      const dead = fake.deliveries.filter(({ state }) => state === "dead");
      for (const { id } of dead) await fake.retry(id);
      return dead.length;
    },
    test: (name) => {
      if (fake.targets.some((target) => target.name === name)) return Promise.resolve(fake.answer);
      return Promise.reject(new Problem("unknown_target", `no target "${name}"`));
    },
  };
  return fake;
}
