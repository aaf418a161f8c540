import { InMemoryCredentialStore } from "@earendil-works/pi-ai";
import { ModelRuntime } from "@earendil-works/pi-coding-agent";
import type { AgentSession } from "@earendil-works/pi-coding-agent";
import { logTo, stoppedEarly } from "../harness.ts";
import type { Harness, Session, SessionEnd } from "../harness.ts";
import { preparePiModels } from "./pi-models.ts";
import { createModelChain } from "./model-chain.ts";
import type { ModelChain } from "./model-chain.ts";
import { refusedAnswer } from "../run-api/run-requests.ts";
import { createPiSession } from "./pi-session.ts";
import { retryingStream } from "./retrying-stream.ts";
import type { RetryingOptions } from "./retrying-stream.ts";
import { sessionLog } from "./session-log.ts";
import type { SessionLog } from "./session-log.ts";
import { createArgumentsCheck } from "./whole-arguments.ts";
import { realTime } from "./time.ts";
import type { Time } from "./time.ts";

/**
 * Runs the session in pi, in this process: nothing is read from or written to pi's folders, keys stay in memory,
 * and commands get the environment of `session.commandEnv` only. Fails over along the job's models.
 */
export function createPiHarness(time: Time): Harness {
  return async (session) => {
    const runtime = await ModelRuntime.create({
      credentials: new InMemoryCredentialStore(),
      modelsPath: null,
      allowModelNetwork: false,
    });
    const models = await preparePiModels(session.job.models, runtime, session.endpoint);
    for (const problem of models.problems) logTo(session.emit, "run", 40, problem);
    const [first, ...others] = models.usable;
    if (first === undefined) {
      throw new Error(`no model can be used: ${models.problems.join("; ")}`);
    }
    first.activate();
    const chain = createModelChain([first, ...others], session.job.models, session.emit);
    const log = sessionLog(session.emit, () => chain.current().name);
    const check = createArgumentsCheck();
    const pi = await createPiSession(session, runtime, {
      first,
      extensions: [chain.extension, check.extension],
      onOutput: log.onOutput,
    });
    return talk(pi, session, { chain, log, read: check.read }, time);
  };
}

export const runPi: Harness = createPiHarness(realTime);

async function talk(
  pi: AgentSession,
  { emit, signal, clock, endpoint, prompt, requests }: Session,
  { chain, log, read }: Pick<RetryingOptions, "chain" | "read"> & { readonly log: SessionLog },
  time: Time,
): Promise<SessionEnd> {
  const { sessionId, agent } = pi;
  agent.streamFunction = retryingStream(agent.streamFunction, {
    chain,
    read,
    clock,
    time,
    emit,
    endpoint,
    sessionId,
    waitForMoney: (asked = signal) => waitForMoney({ requests, emit }, asked),
    onAnswer: log.onAnswer,
  });
  const abort = () => void pi.abort().catch(() => undefined);
  const unsubscribe = pi.subscribe(log.onEvent);
  try {
    await pi.bindExtensions({});
    const { name, model } = chain.current();
    logTo(emit, "run", 30, `session starts with model "${name}" (${model.id})`);
    signal.addEventListener("abort", abort, { once: true });
    if (!signal.aborted) await pi.prompt(prompt, { expandPromptTemplates: false });
  } finally {
    signal.removeEventListener("abort", abort);
    unsubscribe();
    log.end();
    pi.dispose();
  }
  const { tokens, costUsd, turns } = log.usage();
  const model = chain.current().name;
  const usage = { model, tokens, turns, costUsd: chain.isPriced() ? costUsd : null };
  return { error: sessionError(chain, signal), usage };
}

/** The scheduler answers once a budget pays; at once where it is to stop, as it does for a run that it does not know. */
async function waitForMoney(
  { requests, emit }: Pick<Session, "requests" | "emit">,
  signal: AbortSignal,
): Promise<boolean> {
  const answer = await requests.perform("budget-wait", {}, signal).catch(refusedAnswer);
  if (answer.paid !== true) return false;
  logTo(emit, "run", 30, "the budget pays again: the model is asked for the same turn");
  return true;
}

/** pi resolves whatever happens: the verdict on the model's last answer counts. */
function sessionError(chain: ModelChain, signal: AbortSignal): string | null {
  if (signal.aborted) return stoppedEarly;
  const last = chain.latest();
  if (last === null) return "the session ended without an answer of the model";
  return last.kind === "complete" ? null : `model "${chain.current().name}": ${last.message}`;
}
