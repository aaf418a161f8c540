import type { CallPlan, UpstreamModel } from "../../../foundation/contracts/model-gateway.ts";
import { checkedRequest } from "./checked-request.ts";
import { countedBytes } from "./counted-bytes.ts";
import { textAt } from "./json.ts";

import type { RequestBody } from "./request-body.ts";
import type { WireApi } from "./wire-api.ts";

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
