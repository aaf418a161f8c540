import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Job } from "../contracts/job.ts";
import { stopReasonFile, stopReasons } from "../contracts/run-stop.ts";
import type { RunStopReason } from "../contracts/run-stop.ts";

/**
 * Why this run was asked to end, as the scheduler left it beside the run's socket. Without that the signal came from
 * outside, such as from a machine that shuts down: the run was interrupted.
 */
export async function stopReason({ channel }: Pick<Job, "channel">): Promise<RunStopReason> {
  if (channel === null) return "interrupted";
  const path = join(dirname(channel.socket), stopReasonFile);
  const text = await readFile(path, "utf8").catch(() => "");
  return stopReasons.find((reason) => reason === text) ?? "interrupted";
}
