import type { RunRequest } from "../../../../streams/vocabulary.ts";
import type { RunnerOptions } from "../runner-options.ts";
import type { ContainerLimits, ContainerSpec } from "./container-options.ts";
import type { Engine } from "./engine.ts";
import type { AgentImages } from "./images.ts";
import type { RunRecords } from "./run-records.ts";

export interface ContainerRunnerOptions extends RunnerOptions {
  readonly engine: Engine;
  readonly images: AgentImages;
  /** The active `[local]`. */
  readonly local: () => ContainerLimits;
  readonly records: RunRecords;
  /** How long an engine that went away during a run is waited for, in ms. */
  readonly engineGraceMs?: number;
  /** Host folder of a run's control socket, which it sees at `/run/al`; null for none. */
  readonly controlDir?: (request: RunRequest) => string | null;
  /** What runs in the container instead of `al _run-agent`. */
  readonly command?: (request: RunRequest) => NonNullable<ContainerSpec["command"]>;
}
