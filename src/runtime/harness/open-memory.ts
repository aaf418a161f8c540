import type { Job } from "../../foundation/contracts/job.ts";
import type { RunApiClient } from "./run-api/client.ts";
import type { RunMemory } from "./run-memory.ts";

/** The run's memories. Their code is loaded by runs that have some. */
export async function openMemory(job: Job) {
  if (job.memory === undefined) return null;
  const { createRunMemory } = await import("./run-memory.ts");
  return createRunMemory(job);
}

/** Reports why files must not be kept; of a run that failed, nothing is kept. */
export async function reportMemory(
  memory: RunMemory | null,
  errors: readonly (string | null)[],
  { client, signal }: { readonly client: RunApiClient; readonly signal: AbortSignal },
): Promise<void> {
  if (errors.every((error) => error === null)) await memory?.report(client, signal);
}
