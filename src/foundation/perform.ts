import type { z } from "zod";
import type { Act } from "./contracts/audit-acts.ts";
import { atTerminal, type Person } from "./contracts/questions.ts";
import { partsOf, type Call, type Fields, type Operation } from "./operation.ts";

/** A call by the person at the terminal, without an HTTP request. */
export const inProcess: Call = {
  by: atTerminal,
  isMine: null,
  idempotencyKey: null,
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
  input: Fields<z.output<Params>> & Fields<z.output<Input>>,
  context: Context & { readonly audit: { recordAct(act: Act, by: Person): void } },
  by: Person,
): Promise<z.input<Output>> {
  const output = await row.perform(input, context, { ...inProcess, by });
  const act = row.audit?.(input, output);
  if (act) context.audit.recordAct(act, by);
  return output;
}

/** An input from outside as the row's schemas parse it. */
export function parsedInput({ address, params, input }: Operation, given: object): object {
  const names: readonly string[] = partsOf(address).path.match(/(?<=:)\w+/g) ?? [];
  const isInPath = ([name]: [string, unknown]): boolean => names.includes(name);
  const fields = Object.entries(given);
  const path = params?.parse(Object.fromEntries(fields.filter(isInPath)));
  const rest = input?.parse(Object.fromEntries(fields.filter((field) => !isInPath(field))));
  return { ...(path as object | undefined), ...(rest as object | null | undefined) };
}
