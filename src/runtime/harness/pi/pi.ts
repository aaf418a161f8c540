import { InMemoryCredentialStore, type AssistantMessage } from "@earendil-works/pi-ai";
import { ModelRuntime } from "@earendil-works/pi-coding-agent";
import type { AgentSession, AgentSessionEvent } from "@earendil-works/pi-coding-agent";
import { logTo, stoppedEarly } from "../harness.ts";
import type { Harness, Session, SessionEnd, Emit } from "../harness.ts";
import { preparePiModels } from "./pi-models.ts";
import { createModelChain, type ModelChain } from "./model-chain.ts";
import { keptLines, writeSession } from "./kept-session.ts";
import { createSteering } from "./steering.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { refusedAnswer } from "../run-api/run-requests.ts";
import { createPiSession } from "./pi-session.ts";
import { retryingStream } from "./retrying-stream.ts";
import { realTime, type Time } from "../run-clock.ts";
import type { Usage } from "../../../../streams/vocabulary.ts";
import { transcriptOf, type TranscriptUsage } from "../transcript.ts";
import { request, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";

/**
 * Runs the session in pi, in this process: nothing is read from or written to pi's folders, keys stay in memory,
 * and commands get the environment of `session.commandEnv` only. Fails over along the job's models.
 */
export function createPiHarness(time: Time): Harness {
  return async (session) => {
    // One of pi's clients uses only the global fetch.
    globalThis.fetch = bridgeFetch;
    const runtime = await ModelRuntime.create({
      credentials: new InMemoryCredentialStore(),
      modelsPath: null,
      allowModelNetwork: false,
      refreshOnCreate: false,
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
    const pi = await createPiSession(session, runtime, {
      first,
      models: models.usable,
      extensions: [chain.extension],
      onOutput: log.onOutput,
    });
    return talk(pi, session, { chain, log }, time);
  };
}

export const runPi: Harness = createPiHarness(realTime);

interface SessionParts {
  readonly chain: ModelChain;
  readonly log: SessionLog;
}

async function talk(
  pi: AgentSession,
  { job, emit, signal, clock, endpoint, prompt, requests, people }: Session,
  { chain, log }: SessionParts,
  time: Time,
): Promise<SessionEnd> {
  const { sessionId, agent } = pi;
  agent.streamFunction = retryingStream(agent.streamFunction, {
    chain,
    clock,
    time,
    emit,
    endpoint,
    sessionId,
    signal,
    waitForMoney: (asked) => waitForMoney({ requests, emit }, asked),
    onAnswer: log.onAnswer,
  });
  const abort = () => void pi.abort().catch(() => undefined);
  const steering = createSteering(pi);
  const unsubscribe = pi.subscribe((event) => {
    log.onEvent(event);
    if (event.type === "agent_start") steering.deliver();
  });
  /** Null once people can send no more. */
  const lateText = async (): Promise<string | null> => {
    const text = steering.rest();
    if (text === null && !signal.aborted) await people.last(steering.onMessage);
    return text ?? steering.rest();
  };
  const over = new AbortController();
  try {
    await pi.bindExtensions({});
    const { name, model } = chain.current();
    logTo(emit, "run", 30, `session starts with model "${name}" (${model.id})`);
    signal.addEventListener("abort", abort, { once: true });
    void people.follow(steering.onMessage, over.signal);
    for (let text: string | null = prompt; text !== null; text = await lateText()) {
      if (!signal.aborted) await pi.prompt(text, { expandPromptTemplates: false });
    }
  } finally {
    over.abort();
    signal.removeEventListener("abort", abort);
    unsubscribe();
    log.end();
    await keepSession(pi, { job, people, emit });
    pi.dispose();
  }
  const { tokens, costUsd, turns } = log.usage();
  const model = chain.current().name;
  const usage = { model, tokens, turns, costUsd: chain.isPriced() ? costUsd : null };
  if (steering.isStopped() && !signal.aborted) return { error: null, usage, stopped: true };
  return { error: sessionError(chain, signal), usage };
}

/** However the session ended: a person may continue it. */
async function keepSession(
  pi: AgentSession,
  { job: { trees = [], workDir }, people, emit }: Pick<Session, "job" | "people" | "emit">,
) {
  if (!trees.some(({ name }) => name === "session")) return;
  try {
    await writeSession(workDir, await keptLines(pi.agent, people.redact));
  } catch (error) {
    logTo(emit, "run", 40, `the session is not kept: ${messageOf(error)}`);
  }
}

/** The scheduler answers once a budget pays; at once if the run must stop, or is unknown. */
async function waitForMoney(
  { requests, emit }: Pick<Session, "requests" | "emit">,
  signal: AbortSignal,
): Promise<boolean> {
  const answer = await requests.perform("budget-wait", {}, signal).catch(refusedAnswer);
  if (answer.paid !== true) return false;
  logTo(emit, "run", 30, "the model is asked again for the same turn");
  return true;
}

/** pi always resolves: the verdict on the model's last answer counts. */
function sessionError(chain: ModelChain, signal: AbortSignal): string | null {
  if (signal.aborted) return stoppedEarly;
  const last = chain.latest();
  if (last === null) return "the session ended without an answer from the model";
  return last.kind === "complete" ? null : `model "${chain.current().name}": ${last.message}`;
}

type SessionLog = ReturnType<typeof sessionLog>;

/** Logs a session of pi by its events, and sums up its usage. */
function sessionLog(emit: Emit, modelName: () => string) {
  const transcript = transcriptOf(emit);
  const total = { tokens: 0, costUsd: 0, turns: 0 };

  /** Receives every answer of a model, including failed attempts and summaries: all of them cost tokens. */
  function onAnswer({ usage }: AssistantMessage): void {
    total.tokens += usage.totalTokens;
    total.costUsd += usage.cost.total;
  }

  function onMessage({ content, usage, stopReason }: AssistantMessage): void {
    for (const part of content) if (part.type === "text") transcript.assistant(part.text);
    if (stopReason === "error" || stopReason === "aborted") return;
    total.turns += 1;
    transcript.used(modelName(), usageOf(usage));
  }

  function onCompaction(event: Extract<AgentSessionEvent, { type: "compaction_end" }>): void {
    const { reason, result, aborted, errorMessage } = event;
    if (result === undefined) {
      if (!aborted)
        transcript.note(40, `the conversation was not shortened: ${errorMessage ?? reason}`);
      return;
    }
    transcript.note(30, `conversation shortened (${reason})`);
    if (result.usage !== undefined) transcript.used(modelName(), usageOf(result.usage));
  }

  function onEvent(event: AgentSessionEvent): void {
    switch (event.type) {
      case "message_end":
        if (event.message.role === "assistant") onMessage(event.message);
        break;
      case "tool_execution_start":
        transcript.toolCall(event.toolCallId, event.toolName, event.args);
        break;
      case "tool_execution_end":
        transcript.toolResult(
          event.toolCallId,
          resultText(event.result),
          event.isError,
          event.toolName,
        );
        break;
      case "compaction_end":
        onCompaction(event);
        break;
    }
  }

  const usage = (): Omit<Usage, "model"> => ({ ...total });
  return { onEvent, onAnswer, onOutput: transcript.toolOutput, usage, end: transcript.end };
}

function usageOf(usage: AssistantMessage["usage"]): TranscriptUsage {
  const { input, output, cacheRead, cacheWrite, totalTokens: tokens, cost } = usage;
  return { tokens, input, output, cacheRead, cacheWrite, costUsd: cost.total };
}

function resultText(result: unknown): string {
  const { content } = (result ?? {}) as { content?: unknown };
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) => {
      const { text } = (part ?? {}) as { text?: unknown };
      return typeof text === "string" ? text : "[not text]";
    })
    .join("\n");
}

const statusesWithoutBody = [204, 205, 304];

/**
 * `fetch` for pi's clients, by Node's own HTTP client: their one server is the bridge of this process. Node's own `fetch`
 * compiles a parser first, and cuts an answer that is silent for 300 s; the gateway has its own, maybe longer limit. The
 * body is a string; redirects are not followed.
 */
export const bridgeFetch: typeof fetch = async (url, { method, headers, body, signal } = {}) => {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { method, headers: { ...Object.fromEntries(new Headers(headers)), ...plain } };
    const asked = request(url as string | URL, {
      ...options,
      agent: false,
      ...(signal && { signal }),
    });
    asked.once("response", resolve).once("error", reject).end(body);
  });
  const { statusCode: status = 502, statusMessage: statusText = "", rawHeaders } = answer;
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 ? [] : [[name, rawHeaders[index + 1] ?? ""] as [string, string]],
  );
  const hasBody = !statusesWithoutBody.includes(status);
  return new Response(hasBody ? (Readable.toWeb(answer) as ReadableStream) : null, {
    status,
    statusText,
    headers: pairs,
  });
};

/** Node's HTTP client unpacks nothing. */
const plain = { "accept-encoding": "identity" };
