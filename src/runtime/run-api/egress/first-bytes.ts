import { isIP } from "node:net";
import type { Socket } from "node:net";
import { beginsHandshake, readFirstBytes } from "./client-hello.ts";
import type { FirstBytes } from "./client-hello.ts";

/** What a run sends first: `plain` is something else than TLS; `nothing` is an end before all of it was there. */
export type FirstData =
  Exclude<FirstBytes, { readonly type: "incomplete" }> | { readonly type: "plain" | "nothing" };

/** For all of a hello, in ms. */
const helloMs = 10_000;

/**
 * Waits for the first bytes of a connection, of TLS as many as its hello has, and puts them back: the socket is paused
 * then. On a port for TLS they have to come in time.
 */
export function firstData(
  client: Socket,
  { isTls }: { readonly isTls: boolean },
): Promise<FirstData> {
  const { promise, resolve } = Promise.withResolvers<FirstData>();
  let bytes: Buffer = Buffer.alloc(0);
  const give = (data: FirstData): void => {
    clearTimeout(timer);
    client.off("data", take).off("end", end).off("close", end);
    client.pause();
    if (data.type === "hello" || data.type === "plain") client.unshift(bytes);
    resolve(data);
  };
  const take = (chunk: Buffer): void => {
    bytes = Buffer.concat([bytes, chunk]);
    if (!isTls && !beginsHandshake(bytes[0])) return give({ type: "plain" });
    const read = readFirstBytes(bytes);
    if (read.type !== "incomplete") give(read);
  };
  const end = (): void => give({ type: "nothing" });
  const late = (): void => give({ type: "malformed", problem: "its hello did not come in time" });
  const timer = isTls ? setTimeout(late, helloMs) : undefined;
  client.on("data", take).once("end", end).once("close", end);
  return promise;
}

/** Why a connection to `host` may not begin so; null when it may. */
export function firstDataProblem(
  data: FirstData,
  host: string,
): { readonly reason: "no_tls" | "server_name"; readonly detail: string } | null {
  if (data.type === "malformed") return { reason: "no_tls", detail: data.problem };
  if (data.type !== "hello") return null;
  const { serverName } = data;
  const expected = isIP(host) === 0 ? host : null;
  // As servers compare it: without regard to case, but no other form of the name.
  if ((serverName?.toLowerCase() ?? null) === expected) return null;
  const found =
    serverName === null ? "it has none" : `it is ${JSON.stringify(serverName.slice(0, 253))}`;
  return { reason: "server_name", detail: found };
}
