import { pause } from "../../helpers/pause.ts";
import type { Received, Reply } from "../alerts/fake-apis.ts";
import { startReceiver } from "../alerts/receiver.ts";

const ping = /^\/ping\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/(start|fail|log))?$/;
const push = /^\/api\/push\/([A-Za-z0-9]+)$/;

/** Both APIs, as the pages of their makers describe them. */
export async function monitorServer() {
  const known = new Map<string, string[]>();

  const healthchecks = (method: string, path: RegExpExecArray, body: string): Answer => {
    const [, uuid = "", kind = "success"] = path;
    const pings = known.get(uuid);
    if (!["GET", "HEAD", "POST"].includes(method)) return [405, ""];
    // The hosted service answers so for a UUID that it does not have.
    if (pings === undefined) return [200, "OK (not found)"];
    pings.push(body === "" ? kind : `${kind}: ${body}`);
    return [200, "OK"];
  };

  const kuma = (token: string, query: URLSearchParams): Answer => {
    const pings = known.get(token);
    const missing = { ok: false, msg: "Monitor not found or not active." };
    if (pings === undefined) return [404, JSON.stringify(missing)];
    const time = query.get("ping") ?? "";
    if (Number.isNaN(Number(time))) return [404, JSON.stringify({ ok: false, msg: "ping" })];
    pings.push(`${query.get("status") ?? "up"}: ${query.get("msg") ?? "OK"}`);
    return [200, JSON.stringify({ ok: true })];
  };

  const answer = ({ method, path, text }: Received): Answer => {
    const { pathname, searchParams } = new URL(path, "http://any");
    const pinged = ping.exec(pathname);
    if (pinged !== null) return healthchecks(method, pinged, text);
    const token = push.exec(pathname)?.[1];
    return token === undefined ? [404, "not found"] : kuma(token, searchParams);
  };

  let open = 0;
  const seen = { requests: 0, atOnce: 0 };
  const receiver = await startReceiver(async (request) => {
    seen.requests += 1;
    open += 1;
    seen.atOnce = Math.max(seen.atOnce, open);
    if (server.delay > 0) await pause(server.delay, "a slow monitor");
    open -= 1;
    if (server.fault !== null) return server.fault();
    const [status, body] = answer(request);
    return { status, body };
  });
  const server = {
    url: receiver.base,
    /** Creates a check of Healthchecks.io by its UUID, or a monitor of Uptime Kuma by its push token: kind and text of each ping. */
    create: (id: string): readonly string[] => {
      const pings: string[] = [];
      known.set(id, pings);
      return pings;
    },
    /** Requests in all, and those of them that were open at once. */
    seen,
    /** The answer to each later request waits this long, in ms. */
    delay: 0,
    /** In place of an answer of the API; null for that. */
    fault: null as (() => Reply) | null,
    close: receiver.close,
  };
  return server;
}

export type MonitorServer = Awaited<ReturnType<typeof monitorServer>>;

/** Status and text. */
type Answer = readonly [number, string];

export const uuid = "8f0c1b5e-7b0f-4c59-9d4e-4a2f6d3c1b7a";
