import type { Reply } from "../fake-apis.ts";
import { startReceiver } from "../receiver.ts";

export type Json = Readonly<Record<string, unknown>>;
export interface Call {
  readonly method: string;
  readonly body: Json;
}
/** A response that replaces the usual one. */
export interface Refusal extends Omit<Reply, "body"> {
  readonly json: Json;
}

/** A server of JSON calls; `answer` is given the path and the parsed body. */
export async function jsonServer(
  answer: (call: Call & { readonly token: string }) => Promise<Refusal | Json> | Refusal | Json,
) {
  const calls: Call[] = [];
  const receiver = await startReceiver(async ({ path, headers, text }) => {
    const parts = path.split("/");
    const call = { method: parts.at(-1) ?? "", body: JSON.parse(text) as Json };
    calls.push(call);
    const token = `${parts[1]} ${String(headers.authorization)}`;
    const given = await answer({ ...call, token });
    const { json, ...reply } =
      typeof given.status === "number"
        ? (given as unknown as Refusal)
        : { status: 200, json: given };
    return { ...reply, body: JSON.stringify(json) };
  });
  return { ...receiver, calls };
}
