import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { Job } from "../../contracts/job.ts";
import type { ContainerLimits, ContainerSpec } from "./container-options.ts";
import type { Engine } from "./engine.ts";
import type { AgentImages } from "./images.ts";
import type { RunRecords } from "./run-records.ts";

export interface ContainerRunnerOptions {
  readonly engine: Engine;
  readonly images: AgentImages;
  readonly projectDir: string;
  /** `[local]` as it is in force. */
  readonly local: () => ContainerLimits;
  /** Makes the job of a run; a rejection says, for a person, why it cannot run. */
  readonly prepare: (request: RunRequest, workDir: string) => Promise<Job>;
  /** Gives what takes a job's secrets out of a text before it is shown or stored. */
  readonly redactorFor: (job: Job) => (text: string) => string;
  /** `until` is epoch ms. */
  readonly onCooldown: (model: string, until: number) => void;
  readonly records: RunRecords;
  /** Time between TERM and KILL, in ms. */
  readonly graceMs: number;
  /** How long an engine that went away during a run is waited for, in ms. */
  readonly engineGraceMs?: number;
  /** Host folder of a run's control socket, which it sees at `/run/al`; null for none. */
  readonly controlDir?: (request: RunRequest) => string | null;
  /** What runs in the container instead of `al _run-agent`. */
  readonly command?: (request: RunRequest) => NonNullable<ContainerSpec["command"]>;
}
