import { isObject, type Json } from "../../wire/json.ts";

/**
 * Shape of a value in a request: `one` text, number or boolean, `many` of them, any `json` (schemas, arguments and
 * results of tools), or objects with known fields. Null passes for each of them.
 */
export type Shape = "one" | "many" | "json" | Objects;

export interface Objects {
  readonly fields: Fields;
  readonly form: "object" | "list" | "either";
  /** Whether a text is allowed in place of the objects. */
  readonly orText: boolean;
  /** Names of the provider-side actions that an object requests, which `providerTools` has to allow. */
  readonly names: (object: Json) => readonly string[];
}

export type Fields = Readonly<Record<string, Shape>>;

const fieldsOf = (shape: Shape) => (names: string) =>
  Object.fromEntries(names.split(" ").map((name) => [name, shape]));

/** Each function takes the names of fields, separated by spaces. */
export const one = fieldsOf("one");
export const many = fieldsOf("many");
export const json = fieldsOf("json");

const objects =
  (form: Objects["form"]) =>
  (fields: Fields, names: Objects["names"] = () => []): Objects => ({
    fields,
    form,
    orText: false,
    names,
  });

export const object = objects("object");
/** One object alone counts as a list of one, as some providers read it. */
export const list = objects("list");
export const either = objects("either");

export function orText(shape: Objects): Objects {
  return { ...shape, orText: true };
}

/** All objects of a rebuilt request that its table describes, each with its shape. */
export function* objectsOf(value: unknown, shape: Shape): Generator<readonly [Json, Objects]> {
  if (typeof shape === "string") return;
  for (const found of Array.isArray(value) ? value : [value]) {
    if (!isObject(found)) continue;
    yield [found, shape];
    for (const [name, inner] of Object.entries(found)) {
      if (Object.hasOwn(shape.fields, name)) yield* objectsOf(inner, shape.fields[name] ?? "json");
    }
  }
}
