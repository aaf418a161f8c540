import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";

/** What is asked of the provider: so many events at once, so often, with a pause of so many ms between. */
export interface Wanted {
  readonly times: number;
  readonly events: number;
  readonly pauseMs: number;
}

/** One stream as its client saw it. */
export interface Seen {
  readonly firstByteMs: number;
  readonly totalMs: number;
  readonly bytes: number;
}

const agent = new Agent({ keepAlive: true });

/** Asks for one stream and reads it to its end. */
export async function ask(
  { url, key }: { readonly url: string; readonly key: string },
  wanted: Wanted,
): Promise<Seen> {
  // In a field that the gateway passes on.
  const user = JSON.stringify(wanted);
  const body = JSON.stringify({ user, model: "bench", stream: true, messages: [] });
  const began = performance.now();
  const headers = { authorization: `Bearer ${key}` };
  const request = httpRequest(url, { method: "POST", agent, headers });
  request.setNoDelay(true);
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode ?? 0}`);
  let [bytes, firstByteMs] = [0, 0];
  response.on("data", (chunk: Buffer) => {
    if (bytes === 0) firstByteMs = performance.now() - began;
    bytes += chunk.length;
  });
  await once(response, "end");
  return { firstByteMs, totalMs: performance.now() - began, bytes };
}
