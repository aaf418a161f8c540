import { OperationError } from "../../src/foundation/contracts/operations.ts";

/** What is known of a run. Throws OperationError `unknown_instance`. */
export function mustHaveRun<Value>(values: ReadonlyMap<string, Value>, instanceId: string): Value {
  const value = values.get(instanceId);
  if (value === undefined) throw new OperationError("unknown_instance", `no run "${instanceId}"`);
  return value;
}
