import { Problem } from "../../src/foundation/errors.ts";

const things = {
  unknown_instance: "run",
  unknown_trigger: "trigger",
  unknown_receipt: "receipt",
} as const;

/** The value of an id. Throws Problem with the code if the map has none. */
export function mustHave<Value>(
  values: ReadonlyMap<string, Value>,
  id: string,
  code: keyof typeof things,
): Value {
  const value = values.get(id);
  if (value === undefined) throw new Problem(code, `no ${things[code]} "${id}"`);
  return value;
}
