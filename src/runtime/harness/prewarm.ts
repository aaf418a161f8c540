import type { Readable } from "node:stream";
import { maxDocumentBytes } from "../../foundation/contracts/body-limits.ts";
import { firstLine } from "../../foundation/contracts/first-line.ts";
import type { RunPlace } from "../../foundation/contracts/run-place.ts";
import type { Job, Script } from "../../foundation/contracts/job.ts";
import { openBridge } from "./bridge/bridge.ts";
import type { RunSocket } from "./bridge/while-away.ts";
import type { Harness } from "./harness.ts";
import { createRunClock } from "./run-clock.ts";

/** Starts a model of this process's own, which replays a script and answers as a run's socket does. */
type StartScripted = (script: Script) => Promise<RunSocket & { close(): Promise<void> }>;

/**
 * Loads what most runs need, before there is a job, and rehearses: what a session loads late or makes faster by
 * having been done once is behind it then. Resolves when a run can begin; one that comes ends the rehearsal by `signal`.
 */
export async function warmUp(startScripted: StartScripted, signal: AbortSignal): Promise<void> {
  const { runPi } = await import("./pi/pi.ts");
  if (!signal.aborted) void rehearse(runPi, startScripted, signal);
}

/**
 * Makes this process, which was started before its run, the process of that run: it gets the directory and all variables
 * of the first line of `input`. The job comes after. False when the input ends before: there is no run, and no reader for
 * an error.
 */
export async function takeAssignment(input: Readable): Promise<boolean> {
  const line = await firstLine(input, maxDocumentBytes);
  if (line === null) return false;
  const { cwd, env } = JSON.parse(line) as RunPlace;
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  return true;
}

/** A session, so that what it compiles is in the compile cache for the runs to come. Resolves at its end. */
export async function fillCompileCache(startScripted: StartScripted): Promise<void> {
  const { runPi } = await import("./pi/pi.ts");
  await rehearse(runPi, startScripted, new AbortController().signal);
}

/** A session of one turn with a model of this process's own: nothing of any agent, no command, no file. */
async function rehearse(
  runPi: Harness,
  startScripted: StartScripted,
  signal: AbortSignal,
): Promise<void> {
  const model = await startScripted({ turns: [{ text: "Yes." }] });
  try {
    await using endpoint = await openBridge({ runSocket: model, onInterrupted: () => undefined });
    await runPi({
      job,
      signal,
      endpoint,
      prompt: "Are you there?",
      commandEnv: {},
      emit: () => undefined,
      clock: createRunClock(job.timeoutSeconds),
      requests: { perform: () => Promise.reject(new Error("this is a rehearsal")) },
    });
  } catch {
    // What fails here fails in the run too, and is reported there.
  } finally {
    await model.close();
  }
}

const job: Job = {
  instanceId: "rehearsal",
  agent: "rehearsal",
  title: "Rehearsal",
  instructions: "Answer.",
  harness: { type: "pi", command: "claude" },
  models: [
    {
      name: "rehearsal",
      provider: "scripted",
      model: "scripted",
      authType: "none",
      thinkingLevel: null,
      baseUrl: null,
      api: null,
      contextWindow: null,
      maxTokens: null,
      input: null,
      timeoutSeconds: null,
      maxRetries: null,
      price: null,
    },
  ],
  params: {},
  credentials: [],
  files: [],
  hooks: { pre: [], post: [] },
  timeoutSeconds: 60,
  trigger: { kind: "manual", prompt: null },
  payload: null,
  workDir: "/nonexistent",
  channel: null,
};
