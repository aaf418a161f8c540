import type { RunRequest } from "../../streams/vocabulary.ts";
import type { Job } from "../contracts/job.ts";
import { reasonOf } from "../errors.ts";

/** What is known of a run's secrets. */
export interface SecretSources {
  readonly prepare: (request: RunRequest, workDir: string) => Promise<Job>;
  readonly redactorFor: (job: Job) => (text: string) => string;
}

/**
 * What takes the secrets of a run of an earlier scheduler out of a text. Its job is made again only for them: they
 * are read anew, and are what the run was given unless they changed since. Without its job it is unknown which words
 * are secret, so that none is shown.
 */
export function redactorOf(
  request: RunRequest,
  workDir: string,
  { prepare, redactorFor }: SecretSources,
): Promise<(text: string) => string> {
  return prepare(request, workDir).then(redactorFor, withhold);
}

function withhold(error: unknown): (text: string) => string {
  return () => `(not shown, as its secrets are not known: ${reasonOf(error)})`;
}
