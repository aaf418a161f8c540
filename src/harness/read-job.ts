import type { Readable } from "node:stream";
import { maxDocumentBytes } from "../contracts/body-limits.ts";
import { jobSchema } from "../contracts/job.ts";
import type { Job } from "../contracts/job.ts";

const newline = 0x0a;

/**
 * Reads the job, one JSON document in the first line of `input`. The input stays open as long as the scheduler
 * lives: `onGone` is called when it ends after the job. Rejects when it ends before, or holds no job; the
 * message names the wrong fields and never their values, as they may be secrets.
 */
export function readJob(input: Readable, onGone: () => void): Promise<Job> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let done = false;
    const settle = (outcome: () => void) => {
      done = true;
      chunks.length = 0;
      outcome();
    };
    input.on("data", (chunk: Buffer) => {
      if (done) return;
      const end = chunk.indexOf(newline);
      chunks.push(end === -1 ? chunk : chunk.subarray(0, end));
      size += chunk.length;
      if (end !== -1) {
        const line = Buffer.concat(chunks).toString("utf8");
        settle(() => parseJob(line, resolve, reject));
      } else if (size > maxDocumentBytes) {
        settle(() => reject(new Error(`the job is larger than ${maxDocumentBytes} bytes`)));
      }
    });
    const ended = () => {
      if (done) onGone();
      else settle(() => reject(new Error("standard input ended before a whole job came")));
    };
    // It may have been paused after what came before the job.
    input.once("end", ended).once("error", ended).resume();
  });
}

function parseJob(line: string, resolve: (job: Job) => void, reject: (error: Error) => void) {
  let document: unknown;
  try {
    document = JSON.parse(line);
  } catch {
    // The parser's message quotes what it read.
    return reject(new Error("the job on standard input is not JSON"));
  }
  const job = jobSchema.safeParse(document);
  if (job.success) return resolve(job.data);
  const fields = job.error.issues.map(({ path, code }) => `${path.join(".")} (${code})`);
  reject(new Error(`the job on standard input is not valid: ${fields.join(", ")}`));
}
