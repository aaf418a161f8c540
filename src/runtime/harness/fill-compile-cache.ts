import type { Job, Script } from "../../foundation/contracts/job.ts";
import { openBridge } from "./bridge/bridge.ts";
import type { RunSocket } from "./bridge/while-away.ts";
import { createPeople } from "./run-api/people.ts";
import { createRunClock } from "./run-clock.ts";

/** Starts a model in this process that replays a script and answers like a run's socket. */
type StartScripted = (script: Script) => Promise<RunSocket & { close(): Promise<void> }>;

/** Runs one session of pi, so that the compile cache holds its code for later runs. Resolves at the session's end. */
export async function fillCompileCache(startScripted: StartScripted): Promise<void> {
  const { runPi } = await import("./pi/pi.ts");
  const model = await startScripted({ turns: [{ text: "Yes." }] });
  try {
    await using bridge = await openBridge(model);
    const verdict = { failure: null };
    await runPi({
      job,
      signal: new AbortController().signal,
      endpoint: { ...bridge, verdictOn: () => Promise.resolve(verdict) },
      prompt: "Are you there?",
      commandEnv: {},
      emit: () => undefined,
      memory: null,
      clock: createRunClock(job.timeoutSeconds),
      requests: { perform: () => Promise.reject(new Error("this is a rehearsal")) },
      people: createPeople(
        null,
        (value) => value,
        () => undefined,
      ),
    });
  } catch {
    // A failure here repeats in the run, which reports it.
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
      maxRetries: 0,
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
