import type { UpstreamModel } from "../../../foundation/contracts/model-gateway.ts";
import { GatewayProblem } from "./gateway-problem.ts";
import { isObject } from "./json.ts";
import type { Json } from "./json.ts";
import { object } from "./request-shape.ts";
import type { Objects, Shape } from "./request-shape.ts";
import type { WireApi } from "./wire-api.ts";

const noFields = object({});

/**
 * The request with documented fields alone, in their documented spelling and form, and those that the model's config
 * allows. Throws a GatewayProblem for any other field: some servers read names in any case, or take limits and tools
 * under names of their own.
 */
export function rebuiltRequest(
  body: Json,
  { request, spelling = (name) => name }: Pick<WireApi, "request" | "spelling">,
  { name: model, extraFields }: Pick<UpstreamModel, "name" | "extraFields">,
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
  return problem(`the request's "${path}" has another form than this API's documentation gives it`);
}

function problem(message: string, code = "bad_request"): GatewayProblem {
  return new GatewayProblem({ status: 400, code, message });
}
