import type {
  AnswerScript,
  CallGrant,
  CallPlan,
  Meter,
  UpstreamModel,
} from "../../contracts/model-gateway.ts";
import type { RequestBody } from "./body-reader.ts";
import { countedBytes } from "./counted-bytes.ts";
import { endOfCall } from "./call-end.ts";
import type { SeenOfCall } from "./call-end.ts";
import type { Exchange } from "./exchange.ts";
import { GatewayProblem } from "./gateway-problem.ts";
import { requestHeaders } from "./headers.ts";
import { textAt } from "./json.ts";
import type { Json } from "./json.ts";
import type { OpenRequest } from "./read-on.ts";
import { scriptedAnswer } from "./scripted-answer.ts";
import { secretsOf, withoutSecrets } from "./secrets.ts";
import { sendAnswer } from "./send-answer.ts";
import { UpstreamTimeout } from "./upstream.ts";
import type { UpstreamAnswer, UpstreamRequest } from "./upstream.ts";
import { assertNoRedirect, assertReadable, brokenOff, unreachable } from "./upstream-problem.ts";
import { createUsageTap } from "./usage-tap.ts";
import type { WireApi } from "./wire-api.ts";

/** A call that is allowed, on its way to the model. */
export interface Call {
  readonly instanceId: string;
  readonly agent: string;
  readonly model: UpstreamModel;
  readonly api: WireApi;
  readonly url: URL;
  /** Disposed once it was sent on: an answer takes minutes, and the body may be large. */
  readonly body: RequestBody;
  /** False for what no provider bills. */
  readonly isMetered: boolean;
}

export interface CallDeps {
  readonly meter: Meter;
  readonly answerScript: AnswerScript;
  /** Rejects with the system's error when no answer came. */
  readonly ask: (request: UpstreamRequest) => Promise<UpstreamAnswer>;
  readonly openRequest: OpenRequest;
}

/** Reserves what the call may cost, makes it, sends the answer on, and settles what it did cost. */
export async function forwardCall(call: Call, deps: CallDeps, exchange: Exchange): Promise<void> {
  const { api, url, body } = call;
  const plan = planOf(call);
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
    body[Symbol.dispose]();
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

/** Below this an answer is rarely of use, in tokens. */
const leastAnswer = 1024;

function planOf({ instanceId, agent, model, api, body }: Call): CallPlan {
  const asked = api.limit.read(body.json);
  const least = leastAnswer + api.limit.thinkingBudget(body.json);
  return {
    instanceId,
    agent,
    model: model.name,
    providerModel: model.model,
    requestBytes: countedBytes(body, api.providerSide),
    maxOutputTokens: asked,
    minOutputTokens: asked === null ? least : Math.min(asked, least),
    serviceTier: textAt(body.json, "service_tier"),
    longCache: api.writesLongCache?.(body.json) ?? false,
  };
}

async function askModel(
  { model, api, url, body: { json } }: Call,
  { maxOutputTokens }: CallGrant,
  { ask, answerScript }: CallDeps,
  { request, signal: gone }: Exchange,
  signal: AbortSignal,
  seen: SeenOfCall,
): Promise<UpstreamAnswer> {
  const limited = maxOutputTokens === null ? json : api.limit.write(json, maxOutputTokens, model);
  if (model.script !== null) {
    return scriptedAnswer(await answerScript(model.script, limited, gone));
  }
  const body = serialized(limited);
  const headers = requestHeaders(request.headers, model, api, body.length);
  const onSent = () => (seen.mayBeBilled = true);
  try {
    const answer = await ask({ url, headers, body, signal, onSent });
    return withoutSecrets(answer, secretsOf(model));
  } catch (cause) {
    // A provider that breaks off bills nothing; one that is left alone may go on.
    seen.mayBeBilled &&= signal.aborted || cause instanceof UpstreamTimeout;
    throw unreachable(url, cause);
  }
}

/**
 * What was checked is what is sent: the client's own bytes may have a field twice, of which a provider might take the
 * other one.
 */
function serialized(json: Json): Buffer {
  try {
    return Buffer.from(JSON.stringify(json));
  } catch (cause) {
    const problem = { status: 400, code: "bad_request", message: "the body nests too deep" };
    throw new GatewayProblem(problem, { cause });
  }
}
