import { factsTrailer } from "../../../foundation/contracts/model-gateway.ts";
import type {
  AnswerFacts,
  AnswerScript,
  CallGrant,
  CallPlan,
  Meter,
  ScriptedAnswer,
} from "../../../foundation/contracts/model-gateway.ts";
import { inTurn } from "../../../foundation/contracts/in-turn.ts";
import { callSoFar, createAnswerTap, endOfCall, type SeenOfCall } from "./answer-tap.ts";
import {
  GatewayProblem,
  assertNoRedirect,
  assertReadable,
  brokenOff,
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
  /** Whether the scheduler has asked the run to end. */
  readonly isEnding: (instanceId: string) => boolean;
}

/** How many bytes of an answer may pass before its cost so far is stored: those of some 500 tokens. */
const progressBytes = 64 * 1024;

/** Reserves the maximum cost of the call, makes the call, forwards the answer, and settles the actual cost. */
export async function forwardCall(
  call: Call,
  plan: CallPlan,
  deps: CallDeps,
  exchange: Exchange,
): Promise<void> {
  const { api, url, body } = call;
  const grant = call.isMetered ? await reserved(plan, deps.meter, exchange.signal) : unmetered;
  const seen: SeenOfCall = {
    requestBytes: plan.requestBytes,
    began: performance.now(),
    firstByteMs: null,
    status: null,
    tap: null,
    mayBeBilled: false,
  };
  const isEnding = (): boolean => deps.isEnding(exchange.instanceId);
  let newBytes = 0;
  using asked = deps.openRequest(exchange, () => seen.mayBeBilled && !isEnding());
  try {
    const answer = await askModel(call, grant, deps, exchange, asked.signal, seen);
    body.free();
    seen.status = answer.status;
    assertNoRedirect(answer, url);
    const isAnswer = answer.status >= 200 && answer.status < 300;
    const contentType = answer.headers["content-type"] ?? "";
    if (isAnswer) seen.tap = createAnswerTap(contentType, api);
    assertReadable(answer, url);
    const onChunk = (chunk: Buffer) => {
      asked.count(chunk.length);
      seen.firstByteMs ??= performance.now() - seen.began;
      seen.tap?.chunk(chunk);
      newBytes += chunk.length;
      if (newBytes < progressBytes) return;
      newBytes = 0;
      grant.seen(callSoFar(seen));
    };
    const facts = () => seen.tap?.end().facts ?? null;
    await sendAnswer(answer, exchange, onChunk, facts).catch((cause: unknown) => {
      throw brokenOff(url, cause);
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
  const isPassing = grant.code === "rate_limited";
  throw new GatewayProblem(isPassing ? 429 : 403, grant.code, grant.detail, { isPassing });
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
  { response, signal }: Pick<Exchange, "response" | "signal">,
  onChunk: (chunk: Buffer) => void,
  facts: () => AnswerFacts | null,
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
  if (signal.aborted) return;
  const found = facts();
  if (found !== null && hasFacts(found))
    response.addTrailers({ [factsTrailer]: encodeURIComponent(JSON.stringify(found)) });
  response.end();
}

function hasFacts({ refusal, blocked, streamError, cutCalls }: AnswerFacts): boolean {
  return refusal !== "" || blocked !== null || streamError !== null || cutCalls.length > 0;
}

/** Resolves when the client has received the sent bytes, or hung up. */
async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  await once(response, "drain", { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
