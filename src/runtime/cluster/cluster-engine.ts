import { createHash } from "node:crypto";
import type { EngineReport } from "../../../streams/runs/lease-events.ts";
import type { ContainerLimits } from "../runners/container/container-options.ts";

/** The image of an agent, under its name on the cluster's machines. */
export interface AgentImage {
  readonly image: string;
  /** Folders that the image declares as volumes: each is one in memory. */
  readonly volumes: readonly string[];
}

/** One run as an engine starts it. Only its ticket is secret. */
export interface Launch extends AgentImage {
  /** The run's name for the engine and the door: a DNS label. */
  readonly name: string;
  readonly instanceId: string;
  readonly agent: string;
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The JSON document that the program reads first; no client of the engine may see it. */
  readonly ticket: string;
  /** `network` is `none` for a run that reaches only the door, and otherwise a network of the engine. */
  readonly limits: ContainerLimits;
  readonly reserve: { readonly memory: string; readonly cpus: number };
  readonly place: readonly string[];
}

/** One of the runs that an engine has. */
export interface PlacedRun extends EngineReport {
  readonly name: string;
  readonly instanceId: string;
  readonly state: Exclude<EngineReport["state"], "gone">;
}

/** Whether a start broke off before its process could begin: it ended, and its process never ran. */
export function isPartial({ state, endings }: PlacedRun): boolean {
  return state === "ended" && endings === 0;
}

/** How runs are started on machines of a cluster. All methods reject with a Problem while the engine is away. */
export interface ClusterEngine {
  /** Creates the resources that all runs share, such as a network, and checks the engine. Idempotent. */
  ready(): Promise<void>;
  /** Resolves when the engine has accepted the run. Rejects with the reason for a person. */
  start(launch: Launch): Promise<void>;
  /** Kills the run and removes its leftovers; removing a missing run is not an error. */
  remove(name: string): Promise<void>;
  /** The project's runs of every scheduler. */
  list(): Promise<readonly PlacedRun[]>;
}

/** A run's name for the engine and the door: agents' names may be longer than a DNS label. */
export function runName(instanceId: string): string {
  return `al-${createHash("sha256").update(instanceId).digest("hex").slice(0, 24)}`;
}
