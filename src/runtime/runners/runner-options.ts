import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { Job } from "../../foundation/contracts/job.ts";
import type { RedactText } from "../../foundation/credentials/redactor.ts";

/** Options that all runtimes have. */
export interface RunnerOptions {
  /** Makes the job of a run; a rejection has the reason for a person. `workDir` exists when it is called. */
  readonly prepare: (request: RunRequest, workDir: string) => Promise<Job>;
  /**
   * Commits that the run begins, which costs its work an attempt: called just before its process gets the job. A machine
   * of the cluster does it by claiming the run.
   */
  readonly begin?: (request: RunRequest) => Promise<void>;
  /** Returns a function that removes a job's secrets from a text before it is shown or stored. */
  readonly redactorFor: (job: Job) => RedactText;
  /** `until` is epoch ms. */
  readonly onCooldown: (model: string, until: number) => void;
  /** Time between TERM and KILL, in ms. */
  readonly graceMs: number;
  /** Absolute. */
  readonly projectDir: string;
}
