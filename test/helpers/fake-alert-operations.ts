import type { AlertOperations } from "../../src/features/alerts/alert-operations.ts";
import type { RunService } from "../../src/runtime/runs/run-service.ts";
import type { QuestionView } from "../../src/foundation/contracts/question-views.ts";
import type { FakeAlerts } from "./fake-alerts.ts";

/** Operations on fake alerts; `called` remembers what was asked. */
export function fakeAlertOperations(
  alerting: FakeAlerts,
  called: (...words: readonly unknown[]) => void,
): Omit<AlertOperations, "page"> {
  return {
    acknowledge: (request) => {
      called("acknowledgeAlerts", JSON.stringify(request));
      return alerting.acknowledge(request);
    },
    retry: (id) => {
      called("retryAlert", id);
      return alerting.retry(id);
    },
    retryAll: () => {
      called("retryDeadAlerts");
      return alerting.retryAll();
    },
    test: (name) => {
      called("testAlertTarget", name);
      return alerting.test(name);
    },
  };
}

/** The counts of some agents among these alerts and questions. */
export function fakeCounts(
  { alerting, asked }: { readonly alerting: FakeAlerts; readonly asked: readonly QuestionView[] },
  isMine: Parameters<RunService["countsOf"]>[0],
): ReturnType<RunService["countsOf"]> {
  const mine = <T extends { readonly agent: string | null }>(rows: readonly T[]) =>
    rows.filter(({ agent }) => isMine(agent));
  return {
    alerts: {
      open: mine(alerting.open).length,
      dead: mine(alerting.deliveries).filter(({ state }) => state === "dead").length,
    },
    questions: mine(asked).filter(({ state }) => state === "open").length,
  };
}
