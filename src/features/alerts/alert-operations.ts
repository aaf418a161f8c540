import { isoTime, isoTimes } from "../../../streams/iso-times.ts";
import { pageOf } from "../../foundation/contracts/page-of.ts";
import { meantOr } from "../../foundation/contracts/did-you-mean.ts";
import { Problem } from "../../foundation/errors.ts";
import { alertTitle } from "./rules/alert-text.ts";
import type { OpenAlert, StoredDelivery, TargetDeliveries } from "./rules/alert.ts";
import type { AlertOperationsDeps } from "./alerts.ts";
import type {
  AckRequest,
  AlertDeliveryView,
  AlertsQuery,
  AlertsReport,
  AlertTargetView,
  AlertTested,
  OpenAlertView,
} from "./alerts-report.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";

/** A negative LIMIT of SQLite means no limit. */
const unlimited = -1;

/** The operations on alerts. Texts may quote a run or a target's response: their secrets are redacted. */
export function createAlertOperations(deps: AlertOperationsDeps, redactor: Redactor) {
  const redact = (text: string | null) => (text === null ? null : redactor.redact(text));
  const openView = ({ ack, ...one }: OpenAlert): OpenAlertView => ({
    ...one,
    since: isoTime(one.since),
    reason: redact(one.reason),
    ack: ack && isoTimes(ack, "at", "until"),
  });
  return {
    /** The targets of alerts, the open alerts, and the deliveries, newest first. */
    page: ({ limit, ...filter }: AlertsQuery): AlertsReport => {
      const { rows, next } = pageOf(limit, (most) => deps.store.list({ ...filter, limit: most }));
      // Names and ids are kept, even if a credential has such a value.
      return {
        targets: targetViews(deps).map((one) => ({ ...one, lastError: redact(one.lastError) })),
        open: deps.open().map(openView),
        deliveries: rows.map(deliveryView).map((one) => ({
          ...one,
          title: redactor.redact(one.title),
          reason: redact(one.reason),
          ...(one.alerts && { alerts: one.alerts.map((line) => redactor.redact(line)) }),
          lastError: redact(one.lastError),
        })),
        next,
      };
    },
    /** Ends the reminders of open alerts, or resumes them. Rejects with Problem `unknown_alert`. */
    acknowledge: async ({ agent, topic, by = "", until, undo }: AckRequest) => {
      const isMeant = (one: OpenAlert): boolean =>
        one.agent === agent && (topic ?? one.topic) === one.topic;
      if (!deps.open().some(isMeant)) {
        const whose = agent === null ? "the project" : `agent ${JSON.stringify(agent)}`;
        throw new Problem("unknown_alert", `no such alert of ${whose} is open`);
      }
      const untilMs = until === undefined ? null : Date.parse(until);
      const ack = undo ? null : { by, at: Date.now(), until: untilMs };
      await deps.acknowledge(agent, topic ?? null, ack);
    },
    /** Makes a dead or waiting delivery due. Rejects with Problem `unknown_delivery`. */
    retry: async (id: string) => {
      if (await deps.retry(id)) return;
      const message = `there is no waiting or abandoned delivery ${JSON.stringify(id)}`;
      throw new Problem("unknown_delivery", message);
    },
    /** Retries all dead deliveries; resolves with their number. */
    retryAll: async () => {
      // All dead deliveries are read before the first is retried, so that each is retried once, even if it fails again at once.
      const dead = deps.store.list({ state: "dead", limit: unlimited });
      const retried = await Promise.all(dead.map(({ id }) => deps.retry(id)));
      return retried.filter(Boolean).length;
    },
    /** Sends a test, not through the outbox. Rejects with Problem `unknown_target`. */
    test: async (name: string): Promise<AlertTested> => {
      const names = deps.targets().map((target) => target.name);
      if (!names.includes(name)) throw unknownTarget(name, names);
      const answer = await deps.test(name);
      if (answer.type === "accepted") return { accepted: true, error: null };
      return { accepted: false, error: redactor.redact(answer.error) };
    },
  };
}

export type AlertOperations = ReturnType<typeof createAlertOperations>;

function unknownTarget(name: string, names: readonly string[]): Problem {
  const known =
    names.length === 0 ? "None is configured." : `Configured targets: ${names.join(", ")}.`;
  const message = `No alert target ${JSON.stringify(name)}. ${known}`;
  const hint = meantOr(name, names, "Add a table [alerts.<name>] to config.toml.");
  return new Problem("unknown_target", message, hint);
}

function deliveryView({ alert, ...delivery }: StoredDelivery): AlertDeliveryView {
  const { id, target, state, attempts, lastError, endedAt } = delivery;
  const { agent, topic, phase, reason, instanceId, alerts } = alert;
  const about = { agent, topic, phase, title: alertTitle(alert), reason, instanceId };
  const parts = alerts && { alerts };
  return {
    id,
    at: isoTime(delivery.at),
    target,
    ...about,
    ...parts,
    state,
    attempts,
    nextAt: state === "waiting" ? isoTime(delivery.nextAt) : null,
    lastError,
    endedAt: isoTime(endedAt),
  };
}

const noDeliveries: TargetDeliveries = { waiting: 0, dead: 0, lastError: null };

function targetViews({ store, targets }: AlertOperationsDeps): AlertTargetView[] {
  const deliveries = store.targetDeliveries();
  const switchedOff = store.switchedOff();
  return targets().map(({ name, type }) => {
    const { waiting, dead, ...counts } = deliveries.get(name) ?? noDeliveries;
    const off = switchedOff.get(name);
    const lastError = off?.reason ?? counts.lastError;
    const state = off !== undefined ? "off" : lastError === null ? "ok" : "failing";
    const offSince = off === undefined ? null : isoTime(off.at);
    return { name, type, state, waiting, dead, lastError, offSince };
  });
}
