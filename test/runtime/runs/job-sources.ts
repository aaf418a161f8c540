import type { JobSources } from "../../../src/runtime/runs/prepare-job.ts";
import { Problem } from "../../../src/foundation/errors.ts";
import { stageCredentials } from "../../../src/foundation/credentials/stage-credentials.ts";

/** The sources of jobs without files, a payload and a socket; a script is missing. */
export const bareSources = {
  checkCommand: () => Promise.resolve(),
  stage: stageCredentials,
  files: () => Promise.resolve([]),
  trees: () => Promise.resolve([]),
  memory: () => Promise.resolve(undefined),
  network: () => Promise.resolve(undefined),
  script: () => Promise.reject(new Problem("script_invalid", "no such script")),
  payload: () => null,
  deliveries: (ids) => JSON.stringify(ids),
  continued: () => undefined,
  traceparent: () => undefined,
  orderModels: (models) => models,
  channel: () => Promise.resolve(null),
} satisfies Partial<JobSources>;
