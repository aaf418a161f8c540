import { z } from "zod";
import { agentKey, fact } from "./config-key.ts";
import { httpUrl, table } from "./fields.ts";

const url = httpUrl('an http or https URL, e.g. "https://hc-ping.com/<uuid>"').optional();

/** The project's `[heartbeat]`. */
export const projectHeartbeatSchema = table({
  url: url.describe(
    "The URL to ping, such as a Healthchecks.io check or an Uptime Kuma push monitor.",
  ),
});

/** An agent's own `[heartbeat]`. */
export const heartbeatKey = agentKey({
  inFile: "heartbeat",
  field: table({
    url: url.describe(
      "The URL to ping, such as a Healthchecks.io check or an Uptime Kuma push monitor.",
    ),
  })
    .prefault({})
    .describe("A URL to ping when a run starts (/start), succeeds, and fails (/fail)."),
  resolve: (given): string | null => given.url ?? null,
  written: writtenHeartbeat,
  value: z.string().nullable(),
  // A heartbeat URL lets its holder ping: it is as secret as a credential.
  isLong: true,
  // The heartbeat does not affect a run.
  canonical: () => null,
  facts: (given) => fact("Heartbeat", given && new URL(given).host),
});

/** The heartbeat under the file's key. */
export function writtenHeartbeat(given: string | null): object {
  return { url: given };
}
