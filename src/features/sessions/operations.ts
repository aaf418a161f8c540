import { z } from "zod";
import { isoTime } from "../../../streams/iso-times.ts";
import { agentParams } from "../../foundation/contracts/params.ts";
import { nullableText } from "../../foundation/contracts/wire-fields.ts";
import { operationsOf } from "../../foundation/operation.ts";
import type { SessionStore } from "./session-store.ts";

export interface SessionContext {
  readonly sessions: Pick<SessionStore, "list" | "remove">;
}

const { read, change } = operationsOf<SessionContext>("Sessions");
const key = z.string().max(2_000).meta({ description: "Only this session key" });

const sessionsSchema = z
  .object({
    sessions: z
      .array(
        z.object({
          key: z.string().meta({ description: "The session key" }),
          instanceId: z.string().meta({ description: "The last run that left its session" }),
          at: z.iso.datetime().meta({ description: "When that run left it" }),
          until: z.iso.datetime().meta({ description: "How long it is kept" }),
          program: z.string(),
          bytes: z.int(),
          runs: z.int().meta({ description: "Runs of the key in the history" }),
          live: nullableText.meta({ description: "The live run of the key" }),
        }),
      )
      .meta({ description: "The latest first, at most 500" }),
  })
  .meta({ id: "Sessions" });
export type SessionsAnswer = z.infer<typeof sessionsSchema>;

export const listSessions = read("/api/agents/:name/sessions", {
  summary: "The kept sessions of an agent's session keys",
  params: agentParams,
  input: z.object({ key: key.optional() }),
  output: sessionsSchema,
  changedBy: ["triggers"],
  problems: [503],
  perform: ({ name, key: only = null }, { sessions }) => ({
    sessions: sessions.list(name, only).map(({ at, until, ...rest }) => {
      return { ...rest, at: isoTime(at), until: isoTime(until) };
    }),
  }),
});

export const removeSessions = change("/api/agents/:name/sessions/remove", {
  summary: "Delete the kept session of a key, or of all keys of an agent",
  description:
    "The next run of the key begins a new session. A live run goes on, and its session is not kept.",
  scope: "control",
  params: agentParams,
  input: z.strictObject({ key: key.optional() }),
  output: z.object({ removed: z.int() }),
  problems: [503],
  audit: ({ name, key: only }, { removed }) =>
    removed === 0 ? null : { act: "session-remove", agent: name, detail: only },
  perform: async ({ name, key: only = null }, { sessions }) => {
    return { removed: await sessions.remove(name, only) };
  },
});
