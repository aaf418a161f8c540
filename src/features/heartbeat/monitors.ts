import { z } from "zod";
import type { OutgoingRequest } from "../../foundation/contracts/outgoing-request.ts";
import { plainText } from "../../foundation/contracts/plain-text.ts";

/** What a monitor is pinged with. Times are in ms. */
export type Ping =
  /** The scheduler is well; its event loop is this late. */
  | { readonly type: "well"; readonly lagMs: number }
  | { readonly type: "started" }
  | { readonly type: "succeeded"; readonly durationMs: number }
  | { readonly type: "failed"; readonly durationMs: number; readonly reason: string };

/** The form in which a monitor takes pings. */
export interface Monitor {
  /** Null for what it has no form for. */
  readonly request: (address: URL, ping: Ping) => OutgoingRequest | null;
  /** Why it ignored a ping although its status is a success; null when it took it. */
  readonly refusal: (text: string) => string | null;
}

/**
 * Healthchecks.io and its kin (https://healthchecks.io/docs/http_api/). No run id: a success with one leaves a start with
 * another open, and runs of one agent may overlap.
 */
const healthchecks: Monitor = {
  request: (address, ping) => {
    switch (ping.type) {
      case "well":
      case "succeeded":
        return get(address);
      case "started":
        return get(below(address, "start"));
      case "failed": {
        const headers = { "content-type": "text/plain; charset=utf-8" };
        return { method: "POST", url: below(address, "fail"), headers, body: ping.reason };
      }
    }
  },
  // With the UUID of a check that is not there, or too often, it answers 200.
  refusal: (text) => /^OK \((.{1,100})\)$/.exec(plainText(text.trim()))?.[1] ?? null,
};

/** A push monitor of Uptime Kuma, whose address ends with `/api/push/<token>`. It knows no start. */
const uptimeKuma: Monitor = {
  request: (address, ping) => {
    switch (ping.type) {
      case "started":
        return null;
      case "well":
        return get(pushed(address, "up", "OK", ping.lagMs));
      case "succeeded":
        return get(pushed(address, "up", "OK", ping.durationMs));
      case "failed":
        return get(pushed(address, "down", ping.reason, ping.durationMs));
    }
  },
  refusal: (text) => {
    const refused = refusedPush.safeParse(text);
    return refused.success ? plainText(refused.data.msg) : null;
  },
};

const refusedPush = z
  .string()
  .transform(parsedJson)
  .pipe(z.object({ ok: z.literal(false), msg: z.string().max(300) }));

/** The monitor that an address belongs to. */
export function monitorAt({ pathname }: URL): Monitor {
  return /\/api\/push\/[^/]+\/?$/.test(pathname) ? uptimeKuma : healthchecks;
}

function get(url: URL): OutgoingRequest {
  return { method: "GET", url, headers: {}, body: null };
}

function below(address: URL, name: string): URL {
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/${name}`;
  return url;
}

/** Kuma shows its addresses with `?status=up&msg=OK&ping=` already. */
function pushed(address: URL, status: "up" | "down", message: string, pingMs: number): URL {
  const url = new URL(address);
  url.searchParams.set("status", status);
  url.searchParams.set("msg", message);
  url.searchParams.set("ping", String(Math.round(pingMs)));
  return url;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
