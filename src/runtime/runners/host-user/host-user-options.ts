import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { RunNetwork } from "../../../../streams/run-network.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import type { RunnerOptions } from "../runner-options.ts";
import type { IsolatedUsers } from "./isolated-users.ts";
import type { Program } from "./supervisor-order.ts";

export interface HostUserOptions extends RunnerOptions {
  /** `al _run-agent <agent> --project <dir>` with absolute paths: what sudo is asked for, and what runs. */
  readonly runAgent: (agent: string) => Program;
  /** What runs instead of `runAgent`, inside the run's supervisor; null: what a prewarmed process runs. */
  readonly program?: (request: RunRequest | null) => Program;
  /** What an agent's runs have of the network, by the active config. */
  readonly network: (agent: AgentConfig) => RunNetwork;
  /** Absolute folder of the runs' working directories and logs. */
  readonly baseDir: string;
  /** The scheduler's environment; few variables of it reach a run. */
  readonly env: NodeJS.ProcessEnv;
  /** Folder of V8's compile cache for runs of the scheduler's own user, for a faster start; null for none. */
  readonly compileCache: string | null;
}

/** The options with what the runner remembers of its runs. */
export interface HostUserContext extends HostUserOptions {
  readonly isolatedUsers: IsolatedUsers;
}
