import { Problem } from "../../src/foundation/errors.ts";
import type { AlertOperations } from "../../src/features/alerts/alert-operations.ts";
import type {
  AlertDeliveryView,
  AlertTargetView,
  AlertTested,
  OpenAlertView,
} from "../../src/features/alerts/alerts-report.ts";

export interface FakeAlerts extends AlertOperations {
  targets: readonly AlertTargetView[];
  open: readonly OpenAlertView[];
  /** Newest first. */
  deliveries: readonly AlertDeliveryView[];
  /** A target's answer to a test. */
  answer: AlertTested;
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

/** Alerts that a test sets, and that change as the real ones do; `called` remembers what was asked. */
export function fakeAlerts(called: (...words: readonly unknown[]) => void): FakeAlerts {
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
      return { targets: [...fake.targets], open: [...fake.open], deliveries, next };
    },
    acknowledge: async (request) => {
      called("acknowledgeAlerts", JSON.stringify(request));
      const { agent, topic, by = "", until = null, undo } = request;
      const ack = undo ? null : { by, at: new Date().toISOString(), until };
      const isMeant = (one: OpenAlertView): boolean =>
        one.agent === agent && (topic ?? one.topic) === one.topic;
      fake.open = fake.open.map((one) => (isMeant(one) ? { ...one, ack } : one));
      return Promise.resolve();
    },
    retry: async (id) => {
      called("retryAlert", id);
      const found = fake.deliveries.find((one) => one.id === id && one.state !== "sent");
      if (found === undefined) throw new Problem("unknown_delivery", `no delivery "${id}"`);
      due(found);
      return Promise.resolve();
    },
    retryAll: async () => {
      called("retryDeadAlerts");
      const dead = fake.deliveries.filter(({ state }) => state === "dead");
      dead.forEach(due);
      return Promise.resolve(dead.length);
    },
    test: async (name) => {
      called("testAlertTarget", name);
      const isKnown = fake.targets.some((target) => target.name === name);
      if (!isKnown) throw new Problem("unknown_target", `no target "${name}"`);
      return Promise.resolve(fake.answer);
    },
  };
  const due = (found: AlertDeliveryView): void => {
    const now = { state: "waiting", nextAt: new Date().toISOString(), endedAt: null } as const;
    fake.deliveries = fake.deliveries.map((one) => (one === found ? { ...one, ...now } : one));
  };
  return fake;
}
