import type { JobModel } from "../../../src/contracts/job.ts";
import type { RunMessage } from "../../../src/contracts/run-messages.ts";
import type { SessionEnd } from "../../../src/harness/harness.ts";
import { createPiHarness } from "../../../src/harness/pi/pi.ts";
import { realTime } from "../../../src/harness/pi/time.ts";
import type { Time } from "../../../src/harness/pi/time.ts";
import { createRunClock } from "../../../src/harness/run-clock.ts";
import type { RunClock } from "../../../src/harness/run-clock.ts";
import { aJob } from "../jobs.ts";

export interface SessionOptions {
  readonly workDir: string;
  readonly models: JobModel[];
  readonly prompt?: string;
  readonly clock?: RunClock;
  readonly signal?: AbortSignal;
  /** Where scripted models answer. */
  readonly scriptedUrl?: string;
  readonly time?: Partial<Time>;
}

export interface EndedSession extends SessionEnd {
  readonly messages: readonly RunMessage[];
  /** The texts of the log, one a line. */
  readonly log: string;
  /** Waits between attempts, in seconds: they take no time here. */
  readonly waits: readonly number[];
}

/** Runs a session in the real harness, in this process. Backoff is at its full length and the clock stands. */
export async function runSession(options: SessionOptions): Promise<EndedSession> {
  const { workDir, models, scriptedUrl = "", time = {} } = options;
  const waits: number[] = [];
  const messages: RunMessage[] = [];
  const instant = (ms: number) => Promise.resolve(void waits.push(ms / 1000));
  const run = createPiHarness({ ...realTime, wait: instant, random: () => 0, ...time });
  const end = await run({
    job: aJob(workDir, { models }),
    prompt: options.prompt ?? "Do the work.",
    commandEnv: { PATH: process.env.PATH ?? "" },
    emit: (message) => messages.push(message),
    signal: options.signal ?? new AbortController().signal,
    clock: options.clock ?? createRunClock(60, () => 0),
    startScripted: () =>
      Promise.resolve({ baseUrl: scriptedUrl, key: "k", close: () => Promise.resolve() }),
    requests: { perform: () => Promise.resolve({ ok: true }) },
  });
  const log = messages.flatMap((message) => (message.type === "log" ? [message.msg] : []));
  return { ...end, messages, log: log.join("\n"), waits };
}
