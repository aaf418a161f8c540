import type { ScriptedAnswer } from "../../../foundation/contracts/model-gateway.ts";
import type { UpstreamAnswer } from "./upstream.ts";

/** A scripted model's answer in the form of a provider's, so that it is metered and sent as one. */
export function scriptedAnswer({ status, headers, body }: ScriptedAnswer): UpstreamAnswer {
  return { status, headers, body: chunks(body) };
}

// eslint-disable-next-line @typescript-eslint/require-await -- the chunks are there, but a reader of answers awaits them
async function* chunks(texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}
