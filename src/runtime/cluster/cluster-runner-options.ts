import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { ClusterConfig } from "../../foundation/config/cluster-place.ts";
import type { ContainerLimits } from "../runners/container/container-options.ts";
import type { RunnerOptions } from "../runners/runner-options.ts";
import type { AgentImage, ClusterEngine } from "./cluster-engine.ts";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { RecordFiles } from "../runners/record-files.ts";

/** A job's `channel` has the run's ticket as its token. */
export interface ClusterRunnerOptions extends RunnerOptions {
  readonly engine: ClusterEngine;
  /** The agent's image, under its name on the cluster's machines. Rejects with a Problem. */
  readonly imageFor: (agent: AgentConfig) => Promise<AgentImage>;
  /** The active `[cluster]`. */
  readonly cluster: () => Pick<
    ClusterConfig,
    "address" | "leaseSeconds" | "startTimeoutSeconds" | "reserve" | "place"
  >;
  /** The active `[local]`. */
  readonly local: () => ContainerLimits;
  /** The door's certificate, PEM. */
  readonly certificate: () => string;
  readonly records: ClusterRecords;
  /** Writes all log lines so far; resolves with whether they are in the files. */
  readonly flushLogs: () => Promise<boolean>;
  /** Resolves once all events so far are committed: only then the record of a run's exit may be removed. */
  readonly recorded?: () => Promise<unknown>;
  /** Identifies this scheduler among all earlier and later ones. */
  readonly scheduler: string;
  /** A run waits for a machine: its time does not count until the returned function is called. */
  readonly pauseClock?: (instanceId: string) => () => void;
  /** A machine has claimed the run. */
  readonly onClaim?: (instanceId: string, node: string) => void;
  /** Runs instead of `al _remote-run`. */
  readonly command?: (request: RunRequest) => readonly string[];
  /** Time between two polls of the engine, in ms. */
  readonly pollMs?: number;
}

/** Record by which a later scheduler adopts a run; kept until all of the run is removed from the engine. */
export interface ClusterRecord {
  /** The config that started the run. */
  readonly agent: AgentConfig;
  /** The lease after which the run ends itself, even if the project's config changes. */
  readonly leaseSeconds: number;
  /** The machine that claimed it; null before the claim. */
  readonly node: string | null;
  /** The run's exit, written before it is reported: a scheduler that dies in between reports it again. */
  readonly exit: RunnerEvent | null;
}

export type ClusterRecords = RecordFiles<ClusterRecord>;
