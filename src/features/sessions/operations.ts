import { z } from "zod";
import { isoTimes } from "../../../streams/iso-times.ts";
import { agentParams } from "../../foundation/contracts/params.ts";
import { nullableText } from "../../foundation/contracts/wire-fields.ts";
import { operationsOf } from "../../foundation/operation.ts";
import type { SessionStore } from "./session-store.ts";

export interface SessionContext {
  readonly sessions: Pick<SessionStore, "list" | "remove">;
}

const { read, change } = operationsOf<SessionContext>("Sessions");
const key = z.string().max(2_000).optional().meta({ description: "Only this session key" });

const sessionsSchema = z
  .object({
    sessions: z.array(
      z.object({
        key: z.string(),
        instanceId: z.string().meta({ description: "The last run that left its session" }),
        at: z.iso.datetime(),
        until: z.iso.datetime().meta({ description: "How long it is kept" }),
        bytes: z.int(),
        runs: z.int(),
        live: nullableText.meta({ description: "The live run of the key" }),
      }),
    ),
  })
  .meta({ id: "Sessions" });
export type SessionsAnswer = z.infer<typeof sessionsSchema>;

export const listSessions = read("/api/agents/:name/sessions", {
  summary: "The kept sessions of an agent's session keys: the latest first, at most 500",
  params: agentParams,
  input: z.object({ key }),
  output: sessionsSchema,
  changedBy: ["triggers"],
  problems: [503],
  perform: ({ name, key: only }, { sessions }) => ({
    sessions: sessions.list(name, only).map((session) => isoTimes(session, "at", "until")),
  }),
});

export const removeSessions = change("/api/agents/:name/sessions/remove", {
  summary: "Delete the kept session of a key, or of all keys of an agent",
  description: "A live run of the key goes on, and its session is not kept.",
  scope: "control",
  params: agentParams,
  input: z.strictObject({ key }),
  output: z.object({ removed: z.int() }),
  problems: [503],
  audit: ({ name, key: only }) => ({ act: "session-remove", agent: name, detail: only }),
  perform: async ({ name, key: only = null }, { sessions }) => ({
    removed: await sessions.remove(name, only),
  }),
});
