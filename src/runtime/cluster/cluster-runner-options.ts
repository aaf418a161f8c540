import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { ClusterConfig } from "../../foundation/contracts/cluster.ts";
import type { ContainerLimits } from "../runners/container/container-options.ts";
import type { RunnerOptions } from "../runners/runner-options.ts";
import type { ClusterEngine, Launch } from "./cluster-engine.ts";
import type { ClusterRecords } from "./cluster-records.ts";

/** The part of `[cluster]` that concerns each run. */
export type ClusterRunConfig = Pick<
  ClusterConfig,
  "address" | "leaseSeconds" | "startTimeoutSeconds" | "reserve" | "place"
>;

/** A job's `channel` has the run's ticket as its token. */
export interface ClusterRunnerOptions extends RunnerOptions {
  readonly engine: ClusterEngine;
  /** The agent's image, by the name by which machines of the cluster find it. Rejects with a UserError. */
  readonly imageFor: (agent: AgentConfig) => Promise<Pick<Launch, "image" | "volumes">>;
  /** The active `[cluster]`. */
  readonly cluster: () => ClusterRunConfig;
  /** The active `[local]`. */
  readonly local: () => ContainerLimits;
  /** The door's certificate, PEM. */
  readonly certificate: () => string;
  readonly records: ClusterRecords;
  /** Writes all log lines so far; whether they are in the files. */
  readonly flushLogs: () => Promise<boolean>;
  /** Resolves once all events so far are committed: only then the note of a run's exit may go. */
  readonly recorded?: () => Promise<unknown>;
  /** Names this scheduler, as no other one before or after it. */
  readonly scheduler: string;
  /** A run waits for a machine: its time does not count until the function that it returns is called. */
  readonly pauseClock?: (instanceId: string) => () => void;
  /** A machine has claimed the run. */
  readonly onClaim?: (instanceId: string, node: string) => void;
  /** What runs instead of `al _remote-run`. */
  readonly command?: (request: RunRequest) => readonly string[];
  /** Time between two looks at the engine, in ms. */
  readonly pollMs?: number;
}
