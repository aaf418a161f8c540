import type { z } from "zod";
import type { Act } from "./contracts/audit-acts.ts";
import { atTerminal, type Person } from "./contracts/questions.ts";
import { partsOf, type Call, type Given, type Operation } from "./operation.ts";

/** A call by the person at the terminal, without an HTTP request. */
export const inProcess: Call = {
  by: atTerminal,
  isMine: null,
  idempotencyKey: () => null,
  afterAnswer: (run) => void setImmediate(run),
};

/** Performs an operation for a person without an HTTP request, and records the act. */
export async function performAs<
  Context,
  Params extends z.ZodType,
  Input extends z.ZodType,
  Output extends z.ZodType,
>(
  row: Operation<Context, Params, Input, Output>,
  input: Given<Params, Input>,
  context: Context & { readonly audit: { recordAct(act: Act, by: Person): void } },
  by: Person,
): Promise<z.input<Output>> {
  const output = await row.perform(input, context, { ...inProcess, by });
  const act = row.audit?.(input, output);
  if (act) context.audit.recordAct(act, by);
  return output;
}

/** The operation of a table at an address, and a client's input as its schemas parse it. */
export function operationAt<Context>(
  rows: readonly Operation<Context>[],
  address: string,
  given: object,
): { readonly row: Operation<Context>; readonly input: object } {
  const row = rows.find((one) => one.address === address);
  if (row === undefined) throw new TypeError(`no operation at ${address}`);
  const names: readonly string[] = partsOf(address).path.match(/(?<=:)\w+/g) ?? [];
  const isInPath = ([name]: [string, unknown]): boolean => names.includes(name);
  const fields = Object.entries(given);
  const path = row.params?.parse(Object.fromEntries(fields.filter(isInPath)));
  const rest = row.input?.parse(Object.fromEntries(fields.filter((field) => !isInPath(field))));
  return {
    row,
    input: { ...(path as object | undefined), ...(rest as object | null | undefined) },
  };
}
