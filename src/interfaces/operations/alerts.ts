import { alertTitle } from "../../features/alerts/rules/alert-title.ts";
import type { StoredDelivery, OpenAlert } from "../../foundation/contracts/alert.ts";
import type { AlertTarget } from "../../../streams/alert-options.ts";
import type { AlertOperationsDeps } from "../../foundation/contracts/alert-operations.ts";
import type { SwitchedOff, TargetDeliveries } from "../../foundation/contracts/alerts.ts";
import type {
  AlertDeliveryView,
  AlertsQuery,
  AlertsReport,
  AlertTargetView,
  AlertTested,
  OpenAlertView,
} from "../../foundation/contracts/alerts-report.ts";
import { OperationError } from "../../foundation/contracts/operations.ts";
import type { Operations } from "../../foundation/contracts/operations.ts";

type Redact = (text: string) => string;

/** What operators can do with alerts. Texts may quote a run or a target's answer: their secrets are redacted. */
export function createAlertOperations(
  deps: AlertOperationsDeps,
  redact: Redact,
): Pick<Operations, "alerts" | "retryAlert" | "retryDeadAlerts" | "testAlertTarget"> {
  return {
    alerts: (query) => ({
      targets: targetViews(deps, redact),
      open: deps.open().map((one) => openView(one, redact)),
      ...deliveryPage(query, deps, redact),
    }),
    retryAlert: async (id) => {
      if (await deps.retry(id)) return;
      const message = `no delivery ${JSON.stringify(id)} waits or was given up`;
      throw new OperationError("unknown_delivery", message);
    },
    retryDeadAlerts: () => retryDead(deps),
    testAlertTarget: (name) => testTarget(name, deps, redact),
  };
}

const readAtOnce = 200;

/** All are read before the first is retried: each is retried once, also one that dies again at once. */
async function retryDead({ store, retry }: AlertOperationsDeps): Promise<number> {
  const dead: string[] = [];
  for (let isMore = true; isMore;) {
    const before = dead.at(-1) ?? null;
    const page = store.list({ state: "dead", before, limit: readAtOnce });
    dead.push(...page.map(({ id }) => id));
    isMore = page.length === readAtOnce;
  }
  const retried = await Promise.all(dead.map((id) => retry(id)));
  return retried.filter(Boolean).length;
}

async function testTarget(
  name: string,
  deps: AlertOperationsDeps,
  redact: Redact,
): Promise<AlertTested> {
  const names = deps.targets().map((target) => target.name);
  if (!names.includes(name)) {
    const known =
      names.length === 0 ? "config.toml has none" : `config.toml has ${names.join(", ")}`;
    const message = `there is no target ${JSON.stringify(name)} of alerts; ${known}`;
    throw new OperationError("unknown_target", message);
  }
  const answer = await deps.test(name);
  if (answer.type === "accepted") return { accepted: true, error: null };
  return { accepted: false, error: redact(answer.error) };
}

/** One more is read than the page has, to know whether there is another page. */
function deliveryPage(
  { state, target, before, limit }: AlertsQuery,
  { store }: AlertOperationsDeps,
  redact: Redact,
): Pick<AlertsReport, "deliveries" | "next"> {
  const filter = {
    ...(state === undefined ? {} : { state }),
    ...(target === undefined ? {} : { target }),
  };
  const found = store.list({ ...filter, before: before ?? null, limit: limit + 1 });
  const shown = found.slice(0, limit);
  const deliveries = shown.map((one) => deliveryView(one, redact));
  return { deliveries, next: found.length > limit ? (shown.at(-1)?.id ?? null) : null };
}

function deliveryView(delivery: StoredDelivery, redact: Redact): AlertDeliveryView {
  const { id, target, state, attempts, lastError, alert } = delivery;
  const { agent, topic, phase, reason, instanceId } = alert;
  return {
    id,
    at: isoTime(delivery.at),
    target,
    agent,
    topic,
    phase,
    title: alertTitle(alert),
    reason: reason === null ? null : redact(reason),
    instanceId,
    state,
    attempts,
    nextAt: state === "waiting" ? isoTime(delivery.nextAt) : null,
    lastError: lastError === null ? null : redact(lastError),
    endedAt: delivery.endedAt === null ? null : isoTime(delivery.endedAt),
  };
}

function openView({ since, reason, ...open }: OpenAlert, redact: Redact): OpenAlertView {
  const { agent, topic, count } = open;
  const text = reason === null ? null : redact(reason);
  return { agent, topic, since: isoTime(since), count, reason: text };
}

const noDeliveries: TargetDeliveries = { waiting: 0, dead: 0, lastError: null };

function targetViews({ store, targets }: AlertOperationsDeps, redact: Redact): AlertTargetView[] {
  const deliveries = store.targetDeliveries();
  const off = store.switchedOff();
  return targets().map((target) => {
    const { name } = target;
    return targetView(target, deliveries.get(name) ?? noDeliveries, off.get(name), redact);
  });
}

function targetView(
  { name, type }: AlertTarget,
  { waiting, dead, ...deliveries }: TargetDeliveries,
  off: SwitchedOff | undefined,
  redact: Redact,
): AlertTargetView {
  const error = off?.reason ?? deliveries.lastError;
  const lastError = error === null ? null : redact(error);
  const counts = { waiting, dead, lastError };
  if (off !== undefined) return { name, type, state: "off", ...counts, offSince: isoTime(off.at) };
  return { name, type, state: error === null ? "ok" : "failing", ...counts, offSince: null };
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}
