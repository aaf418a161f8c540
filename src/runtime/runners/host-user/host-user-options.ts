import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { RunNetwork } from "../../../../streams/run-network.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import type { RunnerOptions } from "../runner-options.ts";
import type { Program } from "../../wire/supervisor-order.ts";
import type { BeginRecord } from "./run-log.ts";

export interface HostUserOptions extends RunnerOptions {
  /** `al _run-agent <agent> --project <dir>` with absolute paths: the command that sudo permits, and that runs. */
  readonly runAgent: (agent: string) => Program;
  /** Replaces `runAgent` inside the run's supervisor. */
  readonly program?: (request: RunRequest) => Program;
  /** The network mode of an agent's runs, by the active config. */
  readonly network: (agent: AgentConfig) => RunNetwork;
  /** Absolute folder of the runs' working directories and logs. */
  readonly baseDir: string;
  /** The scheduler's environment; few variables of it reach a run. */
  readonly env: NodeJS.ProcessEnv;
  /** Folder of V8's compile cache for runs of the scheduler's own user, for a faster start; null for none. */
  readonly compileCache: string | null;
}

/** The options, and the runner's own state about its runs. */
export interface HostUserContext extends HostUserOptions {
  readonly isolatedUsers: IsolatedUsers;
}

/**
 * The OS users whose runs could be isolated, according to the runs' logs, including adopted runs. Otherwise a run could
 * open the network of its user's next one, by making the kernel refuse.
 */
export class IsolatedUsers {
  readonly #closed = new Set<string>();
  readonly #confined = new Set<string>();

  /** A run of this user began. */
  note(user: string, { isClosed = false, unconfined }: BeginRecord): void {
    if (isClosed) this.#closed.add(user);
    if (unconfined === null) this.#confined.add(user);
  }

  /** Whether an earlier run of this user had the isolation that this network requires. */
  has(user: string, network: RunNetwork): boolean {
    return (network === "open" ? this.#confined : this.#closed).has(user);
  }
}
