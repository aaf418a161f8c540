import type { Readable } from "node:stream";
import { maxDocumentBytes } from "../../foundation/contracts/body-limits.ts";
import { firstLine } from "../../foundation/contracts/first-line.ts";
import { jobSchema } from "../../foundation/contracts/job.ts";
import type { Job } from "../../foundation/contracts/job.ts";

/**
 * Reads the job, one JSON document in the first line of `input`. The input stays open as long as the scheduler
 * lives: `onGone` is called when it ends after the job. Rejects when it ends before, or holds no job; the
 * message names the wrong fields and never their values, as they may be secrets.
 */
export async function readJob(input: Readable, onGone: () => void): Promise<Job> {
  const line = await firstLine(input, maxDocumentBytes);
  if (line === null) throw new Error("standard input ended before a whole job came");
  input.once("end", onGone).once("error", onGone).resume();
  const job = jobSchema.safeParse(jsonOf(line));
  if (job.success) return job.data;
  const fields = job.error.issues.map(({ path, code }) => `${path.join(".")} (${code})`);
  throw new Error(`the job on standard input is not valid: ${fields.join(", ")}`);
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The parser's message quotes what it read.
    throw new Error("the job on standard input is not JSON");
  }
}
