import type { Operations } from "../../src/interfaces/operations/operations.ts";
import type { FakeAlerts } from "./fake-alerts.ts";

type AlertOperations = Pick<
  Operations,
  "acknowledgeAlerts" | "retryAlert" | "retryDeadAlerts" | "testAlertTarget"
>;

/** Operations on fake alerts; `called` remembers what was asked. */
export function fakeAlertOperations(
  alerting: FakeAlerts,
  called: (...words: readonly unknown[]) => void,
): AlertOperations {
  return {
    acknowledgeAlerts: (request) => {
      called("acknowledgeAlerts", JSON.stringify(request));
      return alerting.acknowledge(request);
    },
    retryAlert: (id) => {
      called("retryAlert", id);
      return alerting.retry(id);
    },
    retryDeadAlerts: () => {
      called("retryDeadAlerts");
      return alerting.retryAll();
    },
    testAlertTarget: (name) => {
      called("testAlertTarget", name);
      return alerting.test(name);
    },
  };
}
