import type { Job } from "../../../../src/foundation/contracts/job.ts";
import type { RunMessage } from "../../../../src/runtime/wire/run-messages.ts";
import type { Harness, Session, SessionEnd } from "../../../../src/runtime/harness/harness.ts";
import { createPiHarness } from "../../../../src/runtime/harness/pi/pi.ts";
import { createRunMemory } from "../../../../src/runtime/harness/run-memory.ts";
import { createRunClock, realTime } from "../../../../src/runtime/harness/run-clock.ts";
import type { Time } from "../../../../src/runtime/harness/run-clock.ts";
import { createRunApiClient } from "../../../../src/runtime/harness/run-api/client.ts";
import { createPeople, type People } from "../../../../src/runtime/harness/run-api/people.ts";
import type { RunRequests } from "../../../../src/runtime/harness/run-api/run-requests.ts";
import { openBridge } from "../../../../src/runtime/harness/bridge/bridge.ts";
import { aJob } from "../jobs.ts";
import type { HostedModel } from "../model-host.ts";

export interface SessionOptions {
  readonly workDir: string;
  /** A whole job, or the models of a usual one. */
  readonly job?: Job;
  readonly models?: readonly HostedModel[];
  /** Of the run; its clock stands. */
  readonly timeoutSeconds?: number;
  readonly prompt?: string;
  readonly signal?: AbortSignal;
  readonly time?: Partial<Time>;
  readonly requests?: RunRequests;
  readonly people?: People;
  /** pi by default. */
  readonly harness?: (time: Time) => Harness;
}

export interface EndedSession extends SessionEnd {
  readonly messages: readonly RunMessage[];
  /** The texts of the log, one a line. */
  readonly log: string;
  /** Waits between attempts, in seconds: they take no time here. */
  readonly waits: readonly number[];
}

export const noPeople = createPeople(
  null,
  (value) => value,
  () => undefined,
);

/** Runs a session in the real harness, in this process. Backoff is at its full length and the clock stands. */
export async function runSession(options: SessionOptions): Promise<EndedSession> {
  const { workDir, models, time = {}, harness = createPiHarness, timeoutSeconds = 60 } = options;
  const waits: number[] = [];
  const messages: RunMessage[] = [];
  const instant = (ms: number) => Promise.resolve(void waits.push(ms / 1000));
  const run = harness({
    ...realTime,
    wait: instant,
    random: () => 0,
    ...time,
  });
  const job = options.job ?? aJob(workDir, models && { models });
  if (job.channel === null) throw new Error("the job has no socket");
  await using bridge = await openBridge(job.channel);
  const client = createRunApiClient(job.channel);
  const verdictOn: Session["endpoint"]["verdictOn"] = async (call, signal) =>
    (await client.ask("model-verdict", { call }, signal)).verdict;
  const end = await run({
    job,
    prompt: options.prompt ?? "Do the work.",
    commandEnv: { PATH: process.env.PATH ?? "" },
    emit: (message) => messages.push(message),
    signal: options.signal ?? new AbortController().signal,
    clock: createRunClock(timeoutSeconds, () => 0),
    endpoint: { ...bridge, verdictOn },
    people: options.people ?? noPeople,
    memory: createRunMemory(job),
    requests: options.requests ?? { perform: () => Promise.resolve({ ok: true }) },
  });
  const log = messages.flatMap((message) => (message.type === "log" ? [message.msg] : []));
  return { ...end, messages, log: log.join("\n"), waits };
}
