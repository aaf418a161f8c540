import { cliHeader, silenceHeader } from "../../../foundation/contracts/model-gateway.ts";
import type {
  AnswerScript,
  CallGrant,
  CallPlan,
  Meter,
  ScriptedAnswer,
} from "../../../foundation/contracts/model-gateway.ts";
import { inTurn } from "../../../foundation/contracts/in-turn.ts";
import { hasEnd, longWaitMs, verdictOn } from "./verdict.ts";
import { callSoFar, createAnswerTap, endOfCall, type SeenOfCall } from "./answer-tap.ts";
import { longestTimerMs } from "../../../../streams/longest-timer.ts";
import {
  GatewayProblem,
  assertNoRedirect,
  assertReadable,
  brokenOff,
  tooLong,
  unreachable,
} from "./gateway-problem.ts";
import { requestHeaders, responseHeaders, secretsOf, withoutSecrets } from "./headers.ts";
import { limitAnswer, type Call } from "./plan-call.ts";
import type { createReadOn, Exchange } from "./read-on.ts";
import { UpstreamTimeout, type UpstreamAnswer, type UpstreamRequest } from "./upstream.ts";
import { once } from "node:events";
import type { ServerResponse } from "node:http";

interface CallDeps {
  readonly meter: Meter;
  readonly answerScript: AnswerScript;
  /** Rejects with the system's error when no answer came. */
  readonly ask: (request: UpstreamRequest) => Promise<UpstreamAnswer>;
  readonly openRequest: ReturnType<typeof createReadOn>;
  /** The longest answer, in bytes. */
  readonly answerBytes: number;
  /** Whether the scheduler has asked the run to end. */
  readonly isEnding: (instanceId: string) => boolean;
}

/** How many bytes of an answer may pass before its cost so far is stored: those of some 500 tokens. */
const progressBytes = 64 * 1024;

/** How many bytes of an error's body are read for the verdict on it. */
const errorBytes = 64 * 1024;

/** Reserves the maximum cost of the call, makes the call, forwards the answer, and settles the actual cost. */
export async function forwardCall(
  call: Call,
  plan: CallPlan,
  deps: CallDeps,
  exchange: Exchange,
): Promise<void> {
  const { api, url, body } = call;
  const grant = call.isMetered ? await reserved(plan, deps.meter, exchange.signal) : unmetered;
  const { seen } = exchange;
  seen.requestBytes = plan.requestBytes;
  seen.began = performance.now();
  const isEnding = (): boolean => deps.isEnding(exchange.instanceId);
  let [bytes, storedBytes] = [0, 0];
  using silence = silenceLimit(exchange);
  using asked = deps.openRequest(exchange, () => seen.mayBeBilled && !isEnding());
  try {
    const answer = await askModel(call, grant, deps, exchange, asked.signal, seen);
    body.free();
    seen.status = answer.status;
    assertNoRedirect(answer, url);
    const isAnswer = answer.status >= 200 && answer.status < 300;
    const contentType = answer.headers["content-type"] ?? "";
    if (isAnswer) seen.tap = createAnswerTap(contentType, api);
    else seen.refused = { headers: answer.headers, text: "" };
    assertReadable(answer, url);
    const onChunk = (chunk: Buffer) => {
      silence.restart();
      asked.count(chunk.length);
      seen.firstByteMs ??= performance.now() - seen.began;
      seen.tap?.chunk(chunk);
      if (seen.refused !== null && bytes < errorBytes) seen.refused.text += chunk.toString("utf8");
      bytes += chunk.length;
      if (bytes > deps.answerBytes) throw tooLong(deps.answerBytes);
      if (bytes - storedBytes < progressBytes) return;
      storedBytes = bytes;
      grant.seen(callSoFar(seen));
    };
    silence.restart();
    const isOfCli = call.isMetered && cliHeader in exchange.request.headers;
    const onEnd = (): void => {
      if (isOfCli && isAnswer && !hasEnd(seen)) throw brokenOff(url, "it has no end");
    };
    const send = isOfCli && !isAnswer ? sendRefusal : sendAnswer;
    await send(answer, exchange, { onChunk, onEnd }).catch((cause: unknown) => {
      throw cause instanceof GatewayProblem ? cause : brokenOff(url, cause);
    });
  } finally {
    const isCut = asked.signal.aborted;
    const isHungUp = isCut && !exchange.stopping.aborted && !isEnding();
    grant.settle(endOfCall(seen, isCut, isHungUp));
  }
}

const unmetered: CallGrant = {
  granted: true,
  maxOutputTokens: null,
  seen: () => undefined,
  settle: () => undefined,
};

async function reserved(plan: CallPlan, meter: Meter, signal: AbortSignal): Promise<CallGrant> {
  const grant = await meter.begin(plan, signal);
  if (grant.granted) return grant;
  // Clients retry a 429 after a while; a spending cap doesn't change by waiting, so it is a 403.
  const status = grant.code === "rate_limited" ? 429 : 403;
  throw new GatewayProblem(grant.code, grant.detail, { status });
}

async function askModel(
  call: Call,
  { maxOutputTokens }: CallGrant,
  { ask, answerScript }: CallDeps,
  { request, signal: gone }: Exchange,
  signal: AbortSignal,
  seen: SeenOfCall,
): Promise<UpstreamAnswer> {
  const { instanceId, model, api, url } = call;
  // Many grants may come at once, and each limit parses and serializes its body again.
  if (maxOutputTokens !== null) {
    await inTurn(instanceId, () => limitAnswer(call, maxOutputTokens));
  }
  if (model.script !== null) {
    const json = await inTurn(instanceId, () => call.body.read());
    return scriptedAnswer(await answerScript(model.script, json, gone));
  }
  const body = await inTurn(instanceId, () => call.body.pieces());
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  const headers = requestHeaders(request.headers, model, api, length);
  const onSent = () => (seen.mayBeBilled = true);
  try {
    const idleMs = model.timeoutSeconds === null ? null : model.timeoutSeconds * 1000;
    const answer = await ask({ url, headers, body, idleMs, signal, onSent });
    return withoutSecrets(answer, secretsOf(model));
  } catch (cause) {
    // A provider that closes the connection bills nothing; after an abort or timeout it may still bill.
    seen.mayBeBilled &&= signal.aborted || cause instanceof UpstreamTimeout;
    throw unreachable(url, cause);
  }
}

interface AnswerEvents {
  readonly onChunk: (chunk: Buffer) => void;
  /** Throws for an answer that is not whole. */
  readonly onEnd: () => void;
}

/** A scripted model's answer in a provider's form, so that it is metered and sent like one. */
function scriptedAnswer({ status, headers, body }: ScriptedAnswer): UpstreamAnswer {
  return { status, headers, body: chunks(body) };
}

// oxlint-disable-next-line typescript/require-await -- the chunks are there, but a reader of answers awaits them
async function* chunks(texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

/**
 * Streams an answer to the client with backpressure on the provider. Chunks that arrive after the client hung up are
 * read too. Rejects when the provider breaks off, which leaves the client's answer without an end.
 */
async function sendAnswer(
  { status, headers, body }: UpstreamAnswer,
  { response, signal }: Exchange,
  { onChunk, onEnd }: AnswerEvents,
): Promise<void> {
  if (!signal.aborted) {
    response.socket?.setNoDelay(true);
    response.writeHead(status, responseHeaders(headers));
    // Clients time out if the provider's headers don't arrive.
    response.flushHeaders();
  }
  for await (const chunk of body) {
    onChunk(chunk);
    if (!signal.aborted && !response.write(chunk)) await drained(response, signal);
  }
  onEnd();
  if (!signal.aborted) response.end();
}

/** Statuses that codex or claude retry, while the same request would be refused again. */
const refusals = [401, 402, 403, 404, 429];

/** Sends a provider's refusal to a command line, in a form that it does not retry unless a retry helps soon. */
async function sendRefusal(
  answer: UpstreamAnswer,
  exchange: Exchange,
  { onChunk, onEnd }: AnswerEvents,
): Promise<void> {
  for await (const chunk of answer.body) onChunk(chunk);
  const { failure } = verdictOn(exchange.seen);
  const helpsSoon = failure?.kind === "retry" && (failure.retryAfterMs ?? 0) <= longWaitMs;
  if (failure !== null && !helpsSoon && refusals.includes(answer.status)) {
    const status = exchange.shape.cli?.obeysShouldRetry === true ? answer.status : 400;
    throw new GatewayProblem("not_allowed", failure.message, { status });
  }
  const body = chunks([exchange.seen.refused?.text ?? ""]);
  await sendAnswer({ ...answer, body }, exchange, { onChunk: () => undefined, onEnd });
}

/** Hangs up in place of a client that named a limit, when the provider sends nothing for that long. */
function silenceLimit({ request, response, seen }: Exchange) {
  const ms = Number(request.headers[silenceHeader] ?? Infinity);
  const onSilence = (): void => {
    if (response.destroyed) return;
    seen.silentMs = ms;
    response.destroy();
  };
  const timer = setTimeout(onSilence, ms > 0 ? Math.min(ms, longestTimerMs) : longestTimerMs);
  return { restart: () => timer.refresh(), [Symbol.dispose]: () => clearTimeout(timer) };
}

/** Resolves when the client has received the sent bytes, or hung up. */
async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  await once(response, "drain", { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
