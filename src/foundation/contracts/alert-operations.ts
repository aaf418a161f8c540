import type { OpenAlert } from "./alert.ts";
import type { AlertTarget } from "../../../streams/alert-options.ts";
import type { AlertStore, TargetAnswer } from "./alerts.ts";

/** What the operations on alerts need of the scheduler. */
export interface AlertOperationsDeps {
  readonly store: Pick<AlertStore, "list" | "switchedOff" | "targetDeliveries">;
  /** The alerts that were opened and not resolved. */
  readonly open: () => readonly OpenAlert[];
  /** The targets of the active config. */
  readonly targets: () => readonly AlertTarget[];
  /** Sends a test to one of the targets, now. One that accepts it is switched on again. Never rejects. */
  readonly test: (name: string) => Promise<TargetAnswer>;
  /** Makes a delivery that is dead, or waits, due now, and wakes the sender; false when there is none such. */
  readonly retry: (id: string) => Promise<boolean>;
}
