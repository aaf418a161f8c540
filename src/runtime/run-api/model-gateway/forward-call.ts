import type {
  AnswerScript,
  CallGrant,
  CallPlan,
  Meter,
  ScriptedAnswer,
} from "../../../foundation/contracts/model-gateway.ts";
import { endOfCall } from "./call-end.ts";
import type { SeenOfCall } from "./call-end.ts";
import type { Exchange } from "./exchange.ts";
import { GatewayProblem } from "./gateway-problem.ts";
import { requestHeaders, responseHeaders } from "./headers.ts";
import { limitAnswer } from "./plan-call.ts";
import type { Call } from "./plan-call.ts";
import type { OpenRequest } from "./read-on.ts";
import { secretsOf, withoutSecrets } from "./secrets.ts";
import { UpstreamTimeout } from "./upstream.ts";
import type { UpstreamAnswer, UpstreamRequest } from "./upstream.ts";
import { assertNoRedirect, assertReadable, brokenOff, unreachable } from "./upstream-problem.ts";
import { createUsageTap } from "./usage-tap.ts";
import { once } from "node:events";
import type { ServerResponse } from "node:http";

export interface CallDeps {
  readonly meter: Meter;
  readonly answerScript: AnswerScript;
  /** Rejects with the system's error when no answer came. */
  readonly ask: (request: UpstreamRequest) => Promise<UpstreamAnswer>;
  readonly openRequest: OpenRequest;
}

/** Reserves what the call may cost, makes it, sends the answer on, and settles what it did cost. */
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
  using asked = deps.openRequest(exchange, () => seen.mayBeBilled);
  try {
    const answer = await askModel(call, grant, deps, exchange, asked.signal, seen);
    body.free();
    seen.status = answer.status;
    assertNoRedirect(answer, url);
    const isAnswer = answer.status >= 200 && answer.status < 300;
    const contentType = answer.headers["content-type"] ?? "";
    if (isAnswer) seen.tap = createUsageTap(contentType, api.createUsageReader());
    assertReadable(answer, url);
    await sendAnswer(answer, exchange, (chunk) => {
      asked.count(chunk.length);
      seen.firstByteMs ??= performance.now() - seen.began;
      seen.tap?.chunk(chunk);
    }).catch((cause: unknown) => {
      throw brokenOff(url, cause);
    });
  } finally {
    grant.settle(endOfCall(seen, asked.signal.aborted));
  }
}

const unmetered: CallGrant = { granted: true, maxOutputTokens: null, settle: () => undefined };

async function reserved(plan: CallPlan, meter: Meter, signal: AbortSignal): Promise<CallGrant> {
  const grant = await meter.begin(plan, signal);
  if (grant.granted) return grant;
  // By 429 the clients wait and ask again; a cap doesn't move while they wait.
  const isPassing = grant.code === "rate_limited";
  const problem = { status: isPassing ? 429 : 403, code: grant.code, message: grant.detail };
  throw new GatewayProblem(problem, { isPassing });
}

async function askModel(
  call: Call,
  { maxOutputTokens }: CallGrant,
  { ask, answerScript }: CallDeps,
  { request, signal: gone }: Exchange,
  signal: AbortSignal,
  seen: SeenOfCall,
): Promise<UpstreamAnswer> {
  const { model, api, url } = call;
  if (maxOutputTokens !== null) limitAnswer(call, maxOutputTokens);
  if (model.script !== null) {
    return scriptedAnswer(await answerScript(model.script, call.body.read(), gone));
  }
  const body = call.body.pieces();
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  const headers = requestHeaders(request.headers, model, api, length);
  const onSent = () => (seen.mayBeBilled = true);
  try {
    const idleMs = model.timeoutSeconds === null ? null : model.timeoutSeconds * 1000;
    const answer = await ask({ url, headers, body, idleMs, signal, onSent });
    return withoutSecrets(answer, secretsOf(model));
  } catch (cause) {
    // A provider that breaks off bills nothing; one that is left alone may go on.
    seen.mayBeBilled &&= signal.aborted || cause instanceof UpstreamTimeout;
    throw unreachable(url, cause);
  }
}

/** A scripted model's answer in the form of a provider's, so that it is metered and sent as one. */
function scriptedAnswer({ status, headers, body }: ScriptedAnswer): UpstreamAnswer {
  return { status, headers, body: chunks(body) };
}

// eslint-disable-next-line @typescript-eslint/require-await -- the chunks are there, but a reader of answers awaits them
async function* chunks(texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

/**
 * Sends an answer on as it comes: a slow client slows the provider down. What comes after the client hung up is read all
 * the same. Rejects when the provider breaks off, after which the client's answer has no end.
 */
async function sendAnswer(
  { status, headers, body }: UpstreamAnswer,
  { response, signal }: Pick<Exchange, "response" | "signal">,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  if (!signal.aborted) {
    response.socket?.setNoDelay(true);
    response.writeHead(status, responseHeaders(headers));
    // Clients count the time until they hear of the provider.
    response.flushHeaders();
  }
  for await (const chunk of body) {
    onChunk(chunk);
    if (!signal.aborted && !response.write(chunk)) await drained(response, signal);
  }
  if (!signal.aborted) response.end();
}

/** Resolves when the client has taken what was sent, or hung up. */
async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  await once(response, "drain", { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
