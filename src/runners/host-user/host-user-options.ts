import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { Job } from "../../contracts/job.ts";
import type { Program } from "./supervisor-order.ts";

export interface HostUserOptions {
  /** Makes the job of a run; a rejection says, for a person, why it cannot run. `workDir` is there when it starts. */
  readonly prepare: (request: RunRequest, workDir: string) => Promise<Job>;
  /** `al _run-agent <agent> --project <dir>` with absolute paths: what sudo is asked for, and what runs. */
  readonly runAgent: (agent: string) => Program;
  /** What runs instead of `runAgent`, inside the run's supervisor; null: what a prewarmed process runs. */
  readonly program?: (request: RunRequest | null) => Program;
  /** Absolute. */
  readonly projectDir: string;
  /** Absolute folder of the runs' working directories and logs. */
  readonly baseDir: string;
  /** The scheduler's environment; few variables of it reach a run. */
  readonly env: NodeJS.ProcessEnv;
  /** Folder of V8's compile cache for runs of the scheduler's own user, for a faster start; null for none. */
  readonly compileCache: string | null;
  /** Time between TERM and KILL, in ms. */
  readonly graceMs: number;
  /** `until` is epoch ms. */
  readonly onCooldown: (model: string, until: number) => void;
  /** Gives what takes a job's secrets out of a text before it is shown or stored. */
  readonly redactorFor: (job: Job) => (text: string) => string;
}
