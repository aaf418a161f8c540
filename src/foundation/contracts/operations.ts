import type { Observable } from "rxjs";
import type { StatusSnapshot, StatusUpdate } from "../../../streams/status/wire.ts";
import type { AlertsQuery, AlertsReport, AlertTested } from "./alerts-report.ts";
import type { AgentDetail } from "./agent-detail.ts";
import type { CallTree, HistoryPage, HistoryQuery } from "./history.ts";
import type { RefusedDeliveries, RefusedDeliveriesQuery } from "./refused-deliveries.ts";
import type { AgentHosts, AllowHostRequest, HostAllowed } from "./run-hosts.ts";
import type { RunDifference, RunView } from "./run-view.ts";
import type { Lock, ReceiptView, ReplayResult } from "./operator-api.ts";
import type { WhyNot, WhyNotQuery } from "./why-not.ts";
import type { SpendAnswer, SpendLimit, SpendRequest } from "./spend-report.ts";

/** Why an operation is refused; the gateway turns the code into a status and a problem document. */
export class OperationError extends Error {
  readonly code:
    | "unknown_agent"
    | "unknown_budget"
    | "unknown_delivery"
    | "unknown_instance"
    | "unknown_receipt"
    | "unknown_target"
    | "unknown_trigger"
    | "unknown_version"
    | "unreadable_receipt"
    | "disabled"
    | "invalid_config"
    | "invalid_host"
    | "draining"
    | "refused"
    | "store_unavailable";

  constructor(code: OperationError["code"], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "OperationError";
    this.code = code;
  }
}

/** A delivery as it came in, before anything was verified. */
export interface Delivery {
  /** Provider type of the path, `/webhooks/<type>`. */
  readonly type: string;
  /** Source of the path, `/webhooks/<type>/<source>`; null without. */
  readonly source: string | null;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** What a delivery is answered with. */
export type DeliveryAnswer =
  | { readonly status: 200; readonly body: Readonly<Record<string, unknown>> | null }
  | {
      readonly status: 400 | 401 | 403 | 404 | 413 | 503;
      /** Short stable code such as `bad_signature`. */
      readonly error: string;
      readonly detail: string;
    };

/** What became of one delivery, for counters. `type` is a known type or `unknown`; `source` is null until verified. */
export interface DeliveryCount {
  readonly type: string;
  readonly source: string | null;
  readonly result:
    | "accepted"
    | "unmatched"
    | "duplicate"
    | "ping"
    | "unverified"
    | "malformed"
    | "not_found"
    | "unavailable";
}

/** The operations of the scheduler for its operators: the gateway's routes are a thin skin over this. */
export interface Operations {
  /** The same object for as long as nothing changes. */
  readonly snapshot: () => StatusSnapshot;
  /** Hot, at most one every 100 ms. */
  readonly update$: Observable<StatusUpdate>;
  /** Whether the snapshot has an agent of this name. */
  hasAgent(name: string): boolean;
  /** Throws OperationError `unknown_agent`. */
  agent(name: string): AgentDetail;
  readonly phase: () => "starting" | "running" | "draining";
  /** Why it can store no work now, for a person; null while it can. */
  readonly storeProblem: () => string | null;
  setPaused(paused: boolean): Promise<void>;
  setEnabled(agent: string, enabled: boolean): Promise<void>;
  /** Commits the trigger; resolves with whether it runs or waits. */
  trigger(
    agent: string,
    prompt: string | null,
  ): Promise<{ triggerId: string; instanceId: string | null; queued: boolean }>;
  /** Ends all running runs of the agent; the number it asked to end. */
  killAgent(agent: string): Promise<number>;
  killInstance(instanceId: string): Promise<void>;
  /** Lets running runs finish within their grace period; `now` ends them. */
  stop(now: boolean): void;
  history(query: HistoryQuery): HistoryPage;
  /** Deliveries that were refused, the latest first. */
  refusedDeliveries(query: RefusedDeliveriesQuery): Promise<readonly RefusedDeliveries[]>;
  /** Why an agent did not run. Rejects with OperationError `unknown_agent`. */
  whyNot(agent: string, query: WhyNotQuery): Promise<WhyNot>;
  /** The calls around an entry of the history, its secrets redacted. Throws OperationError `unknown_trigger`. */
  callTree(id: string): CallTree;
  /** A run with what it ran, returned and called, its secrets redacted. Rejects with OperationError `unknown_instance`. */
  run(instanceId: string): Promise<RunView>;
  /**
   * What changed in what two runs ran; without `other` since the agent's last run before it that succeeded. Rejects with
   * OperationError `unknown_instance` or `unknown_version`.
   */
  runDifference(instanceId: string, other: string | null): Promise<RunDifference>;
  /** A stored delivery with its secrets redacted. Throws OperationError `unknown_receipt`. */
  receipt(receiptId: string): ReceiptView;
  /**
   * Runs a stored delivery again: for all agents whose filters let it through now, or for one agent whatever its
   * filters are. Each gets new work, which is committed first.
   */
  replay(receiptId: string, agent: string | null): Promise<ReplayResult>;
  /**
   * Runs the work of a history entry again, whatever asked for it, as new work that is committed first. Throws
   * OperationError `unknown_trigger`.
   */
  replayTrigger(id: string): Promise<ReplayResult>;
  /** What calls to models cost, the limits, and what a month will cost. */
  spend(asked: SpendRequest): SpendAnswer;
  /**
   * Adds to the limits of `project`, `agent:<name>` or `run:<instance id>` until their windows turn; resolves with those of
   * days and months. Throws OperationError `unknown_agent`, `unknown_instance` or `unknown_budget`.
   */
  raiseBudget(scope: string, usd: number): Promise<readonly SpendLimit[]>;
  /** The hosts that an agent's runs were denied lately. Rejects with OperationError `unknown_agent`. */
  agentHosts(agent: string): Promise<AgentHosts>;
  /**
   * Adds a host to the allow list in the agent's own file, or shows how. Rejects with OperationError `unknown_agent`,
   * `invalid_host` or `invalid_config`.
   */
  allowHost(agent: string, request: AllowHostRequest): Promise<HostAllowed>;
  /** The targets of alerts, what is wrong now, and the deliveries, newest first. */
  alerts(query: AlertsQuery): AlertsReport;
  /** Makes a delivery due that was given up, or waits. Rejects with OperationError `unknown_delivery`. */
  retryAlert(id: string): Promise<void>;
  /** The same for all that were given up; resolves with how many there were. */
  retryDeadAlerts(): Promise<number>;
  /** Sends a test, not through the outbox. Rejects with OperationError `unknown_target`. */
  testAlertTarget(name: string): Promise<AlertTested>;
  /** The resources that runs hold now. */
  locks(): readonly Lock[];
  receiveWebhook(delivery: Delivery): Promise<DeliveryAnswer>;
}
