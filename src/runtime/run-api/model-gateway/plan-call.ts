import type { CallPlan, UpstreamModel } from "../../../foundation/contracts/model-gateway.ts";
import { textAt, isObject, type Json } from "../../wire/json.ts";
import type { RequestBody } from "./request-body.ts";
import type { WireApi } from "./wire-api.ts";
import { GatewayProblem } from "./gateway-problem.ts";
import { objectsOf, object, type Objects, type Shape } from "./request-shape.ts";

/**
 * The most bytes that count for one image: 16,000 tokens at three bytes each. Providers charge an image by its size in
 * pixels, a few thousand tokens at most, not by the bytes of its data.
 */
const mostImageBytes = 48_000;

/** Bytes of a request for the estimate of its tokens; each image counts at most `mostImageBytes`. */
function countedBytes(json: Json, body: RequestBody, request: Objects): number {
  let counted = body.bytes;
  for (const [part] of objectsOf(json, request)) {
    counted -= Math.max(0, body.lengthOf(imageDataOf(part)) - mostImageBytes);
  }
  return counted;
}

/** The data of an image in its API's form; empty for any other part, also for a text that looks like an image. */
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
  /** Freed once it was sent. */
  readonly body: RequestBody;
  /** False for calls that no provider bills. */
  readonly isMetered: boolean;
}

/** A shorter answer is rarely useful, in tokens. */
const leastAnswer = 1024;

/**
 * Checks a call's body, replaces it by the checked one, and returns the call's needs. Not async: an async frame would
 * hold the parsed body while the call waits. Throws a GatewayProblem.
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

/** Sets the granted limit of the answer. */
export function limitAnswer({ api, body, model }: Call, tokens: number): void {
  body.write(api.limit.write(body.read(), tokens, model));
}

/** The checked request, which is sent to the provider. Throws a GatewayProblem if the request isn't allowed. */
export function checkedRequest(body: Json, api: WireApi, model: UpstreamModel): Json {
  const checked = api.prepare(rebuiltRequest(body, api, model), model);
  assertNothingBeyondAnswer(checked, model, api.request);
  return checked;
}

/** Throws a GatewayProblem if the request makes the provider act in a way that the model's config doesn't allow. */
function assertNothingBeyondAnswer(
  body: Json,
  { name, providerTools }: UpstreamModel,
  request: Objects,
): void {
  const refused = new Set<string>();
  for (const [object, shape] of objectsOf(body, request)) {
    for (const one of shape.names(object)) if (!providerTools.includes(one)) refused.add(one);
  }
  if (refused.size === 0) return;
  const list = [...refused].map((one) => `"${one}"`).join(", ");
  throw new GatewayProblem(
    "provider_tool",
    `the request has ${list}, which the provider would act on outside of the run; to allow that, add it to providerTools of [models.${name}]`,
  );
}

const noFields = object({});

/**
 * The request with documented fields in their documented spelling and form, and with the extra fields of the model's
 * config. Throws a GatewayProblem for any other field: some servers ignore the case of names, or accept limits and
 * tools under undocumented names.
 */
export function rebuiltRequest(
  body: Json,
  { request, spelling = (name) => name }: WireApi,
  { name: model, extraFields }: UpstreamModel,
): Json {
  /** Null for a field that is neither documented nor allowed. */
  const shapeAt = (path: string, name: string, { fields }: Objects): Shape | null => {
    if (Object.hasOwn(fields, name)) return fields[name] ?? null;
    if (extraFields.includes(path)) return "json";
    return extraFields.some((extra) => extra.startsWith(`${path}.`)) ? noFields : null;
  };

  const rebuiltObject = (given: unknown, shape: Objects, path: string): Json => {
    if (!isObject(given)) throw badForm(path);
    const entries = Object.entries(given).map(([key, value]) => {
      const name = spelling(key);
      const at = path === "" ? name : `${path}.${name}`;
      const inner = shapeAt(at, name, shape);
      if (inner === null) throw unknownField(at, model);
      return [name, rebuilt(value, inner, at)] as const;
    });
    const names = entries.map(([name]) => name);
    const twice = names.find((name, index) => names.indexOf(name) < index);
    if (twice !== undefined) throw problem(`the request has "${twice}" in two spellings`);
    return Object.fromEntries(entries);
  };

  const rebuilt = (given: unknown, shape: Shape, path: string): unknown => {
    if (given === null || shape === "json") return given;
    if (typeof shape === "string") return plainValue(given, shape, path);
    if (typeof given === "string" && shape.orText) return given;
    const isList = shape.form === "list" || (shape.form === "either" && Array.isArray(given));
    if (!isList) return rebuiltObject(given, shape, path);
    const values: readonly unknown[] = Array.isArray(given) ? given : [given];
    return values.map((value) => rebuiltObject(value, shape, path));
  };
  return rebuiltObject(body, request, "");
}

function plainValue(given: unknown, shape: "one" | "many", path: string): unknown {
  const values = shape === "many" && Array.isArray(given) ? given : [given];
  if (values.every((value) => typeof value !== "object")) return given;
  throw badForm(path);
}

function unknownField(path: string, model: string): GatewayProblem {
  return problem(
    `the documentation of this API has no field "${path.slice(0, 200)}"; to send it, add it to extraFields of [models.${model}]`,
    "unknown_field",
  );
}

function badForm(path: string): GatewayProblem {
  return problem(`the request's "${path}" has a different form in this API's documentation`);
}

function problem(message: string, code = "bad_request"): GatewayProblem {
  return new GatewayProblem(code, message);
}
