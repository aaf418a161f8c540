import type { CallPlan, UpstreamModel } from "../../../foundation/contracts/model-gateway.ts";
import { textAt } from "./json.ts";
import type { RequestBody } from "./request-body.ts";
import type { WireApi } from "./wire-api.ts";
import { GatewayProblem } from "./gateway-problem.ts";
import type { Json } from "./json.ts";
import { rebuiltRequest } from "./rebuilt-request.ts";
import { objectsOf } from "./request-shape.ts";
import type { Objects } from "./request-shape.ts";

/**
 * More bytes of text than any image has tokens for: 16,000 of them at three bytes each. Providers count an image by its
 * size on the screen, a few thousand tokens at most, however many bytes its data has.
 */
const mostImageBytes = 48_000;

/** Bytes of a request by which its tokens are estimated: of an image no more than it can cost. */
function countedBytes(
  json: Json,
  body: Pick<RequestBody, "bytes" | "lengthOf">,
  request: Objects,
): number {
  let counted = body.bytes;
  for (const [part] of objectsOf(json, request)) {
    counted -= Math.max(0, body.lengthOf(imageDataOf(part)) - mostImageBytes);
  }
  return counted;
}

/** The data of an image as its API has it; empty for any other part. A text that looks like one is a text. */
function imageDataOf(part: Json): string {
  const type =
    textAt(part, "media_type") ?? textAt(part, "mimeType") ?? textAt(part, "mime_type") ?? "";
  if (type.startsWith("image/")) return textAt(part, "data") ?? "";
  const address = textAt(part, "image_url") ?? textAt(part, "url") ?? "";
  return address.startsWith("data:image/") ? address : "";
}

/** A call that is allowed, on its way to the model. */
export interface Call {
  readonly instanceId: string;
  readonly agent: string;
  readonly model: UpstreamModel;
  readonly api: WireApi;
  readonly url: URL;
  /** Freed once it was sent on. */
  readonly body: RequestBody;
  /** False for what no provider bills. */
  readonly isMetered: boolean;
}

/** Below this an answer is rarely of use, in tokens. */
const leastAnswer = 1024;

/**
 * Checks a call's body, makes it what is sent, and says what the call may need. Not async: no frame of it holds the parsed
 * body while the call waits. Throws a GatewayProblem.
 */
export function planCall({ instanceId, agent, model, api, body }: Call): CallPlan {
  const json = checkedRequest(body.read(), api, model);
  body.write(json);
  const asked = api.limit.read(json);
  const least = leastAnswer + api.limit.thinkingBudget(json);
  return {
    instanceId,
    agent,
    model: model.name,
    providerModel: model.model,
    requestBytes: countedBytes(json, body, api.request),
    maxOutputTokens: asked,
    minOutputTokens: asked === null ? least : Math.min(asked, least),
    serviceTier: textAt(json, "service_tier"),
    longCache: api.writesLongCache?.(json) ?? false,
  };
}

/** Sets the limit of the answer that was granted. */
export function limitAnswer({ api, body, model }: Call, tokens: number): void {
  body.write(api.limit.write(body.read(), tokens, model));
}

/** The request as the provider may get it: what was checked is what is sent. Throws a GatewayProblem for any other. */
export function checkedRequest(body: Json, api: WireApi, model: UpstreamModel): Json {
  const checked = api.prepare(rebuiltRequest(body, api, model), model);
  assertNothingBeyondAnswer(checked, model, api.request);
  return checked;
}

/** Throws a GatewayProblem when the request would make the provider act in a way that the model's config doesn't allow. */
function assertNothingBeyondAnswer(
  body: Json,
  { name, providerTools }: Pick<UpstreamModel, "name" | "providerTools">,
  request: Objects,
): void {
  const refused = new Set<string>();
  for (const [object, shape] of objectsOf(body, request)) {
    for (const one of shape.names(object)) if (!providerTools.includes(one)) refused.add(one);
  }
  if (refused.size === 0) return;
  const list = [...refused].map((one) => `"${one}"`).join(", ");
  const message = `the request has ${list}, which the provider would act on outside of the run; to allow that, add it to providerTools of [models.${name}]`;
  throw new GatewayProblem({ status: 403, code: "provider_tool", message });
}
