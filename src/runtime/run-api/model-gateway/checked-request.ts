import type { UpstreamModel } from "../../../foundation/contracts/model-gateway.ts";
import { GatewayProblem } from "./gateway-problem.ts";
import type { Json } from "./json.ts";
import { rebuiltRequest } from "./rebuilt-request.ts";
import { objectsOf } from "./request-shape.ts";
import type { Objects } from "./request-shape.ts";
import type { WireApi } from "./wire-api.ts";

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
