import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { RecordFiles } from "../runners/record-files.ts";

/** What a later scheduler needs to adopt a run, kept until nothing is left of it on the engine. */
export interface ClusterRecord {
  /** The config that it was started with. */
  readonly agent: AgentConfig;
  /** The lease after which the run ends itself, even if the project's config changes. */
  readonly leaseSeconds: number;
  /** The machine that it was claimed from; null before the claim. */
  readonly node: string | null;
  /** Its exit, which is written before it is reported: a scheduler that ends in between reports it again. */
  readonly exit: RunnerEvent | null;
}

export type ClusterRecords = RecordFiles<ClusterRecord>;
