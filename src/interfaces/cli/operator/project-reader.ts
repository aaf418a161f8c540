import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import type { HistoryPage, HistoryQuery } from "../../../foundation/contracts/history.ts";
import type {
  RefusedDeliveries,
  RefusedDeliveriesQuery,
} from "../../../foundation/contracts/refused-deliveries.ts";
import type { RunDifference, RunView } from "../../../foundation/contracts/run-view.ts";
import type { WhyNot, WhyNotQuery } from "../../../foundation/contracts/why-not.ts";
import type { SpendAnswer, SpendRequest } from "../../../foundation/contracts/spend-report.ts";
import type { StoredStatus } from "../../../foundation/contracts/stored-status.ts";

/** A query for the latest entries, the only page that commands show. */
export type HistoryQuestion = Omit<HistoryQuery, "page" | "before">;

/** Questions that a scheduler answers, and without one the project's store. */
export interface ProjectReader {
  /** `scheduler` is null where the store answers. */
  status(): Promise<StatusSnapshot | StoredStatus>;
  history(query: HistoryQuestion): Promise<HistoryPage>;
  /** Webhook deliveries that were refused, the latest first. */
  refusedDeliveries(query: RefusedDeliveriesQuery): Promise<readonly RefusedDeliveries[]>;
  whyNot(agent: string, query: WhyNotQuery): Promise<WhyNot>;
  run(instanceId: string): Promise<RunView>;
  /** Without `other` since the agent's last run before it that succeeded. */
  runDifference(instanceId: string, other: string | null): Promise<RunDifference>;
  spend(query: SpendRequest): Promise<SpendAnswer>;
  agentNames(): Promise<readonly string[]>;
}
