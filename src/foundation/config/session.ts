import { z } from "zod";
import { whileRunnings, type SessionConfig } from "../../../streams/agent-config.ts";
import { sessionProgram } from "../../../streams/harnesses.ts";
import { keyTemplate } from "./concurrency.ts";
import { agentKey, factOf } from "./config-key.ts";
import { choice, durationMs, integer, parseDuration, table, writtenDuration } from "./fields.ts";
import { describeKeys } from "./format-value.ts";
import { resolveHarness, type HarnessTable } from "./harness.ts";
import type { ProjectConfig } from "./project-config.ts";
import type { Diagnostics } from "./validate.ts";

const keepError = 'a length of time from 1 minute to 365 days, e.g. "24h" or "14d"';

const schema = table({
  key: keyTemplate().describe(
    'Runs whose triggers have the same key continue one session, one after the other. A template over attributes of the trigger, e.g. "{repository}#{number}"; without one of them, a run begins its own session. The session of a failed run is continued, too, and the next run reads how it ended.',
  ),
  keep: z
    .string({ error: keepError })
    .refine((text) => parseDuration(text) != null, { error: keepError })
    .default("14d")
    .describe("How long a session is kept after its last run, at most as long as the history."),
  maxTokens: integer("tokens", 2000).optional().meta({
    description:
      "Size above which the older part of a session is summarized. claude takes less than 100,000 as 100,000; gemini has no such setting.",
    fallback: "the limit of the model",
  }),
  whileRunning: choice(whileRunnings)
    .default("wait")
    .describe(
      'How a webhook delivery is handled while a run of its key is live. "wait": it waits for its own run. "steer": it is sent into the run as a message, without the file of its payload; if the run ends before it has received that, it starts its own. For pi and claude.',
    ),
});

/** An agent's `[session]`. */
export const sessionKey = agentKey({
  inFile: "session",
  field: schema
    .optional()
    .describe(
      "Runs that continue the session of an earlier run, such as one conversation for each issue. For pi, claude, codex and gemini. `al session` lists and deletes kept sessions.",
    ),
  resolve: (given): SessionConfig | null => {
    if (given === undefined) return null;
    const { keep, maxTokens = null, ...rest } = given;
    return { ...rest, keepMs: durationMs(keep) ?? 0, maxTokens };
  },
  written,
  value: z
    .object({
      key: z.string(),
      keepMs: z.int(),
      maxTokens: z.int().nullable(),
      whileRunning: z.enum(whileRunnings),
    })
    .nullable(),
  change: (before, after) => describeKeys("session", written(before), written(after)),
  facts: (given) =>
    factOf("Session key", given === null ? [] : [given.key, `kept for ${keepOf(given)}`]),
});

const keepOf = ({ keepMs }: SessionConfig): string => writtenDuration(keepMs);

/** The table under the file's keys. */
function written(given: SessionConfig | null): object | null {
  if (given === null) return null;
  const { key, maxTokens, whileRunning } = given;
  return { key, keep: keepOf(given), maxTokens, whileRunning };
}

interface CheckedTable {
  readonly session?: z.output<typeof schema> | undefined;
  readonly harness: HarnessTable;
}

/** Reports what the agent's program can't do. */
export function checkSession(
  { session, harness }: CheckedTable,
  project: Pick<ProjectConfig, "harness">,
  diagnostics: Diagnostics,
): void {
  if (session === undefined) return;
  const used = resolveHarness(harness, project.harness);
  const program = sessionProgram(used);
  if (program === null) {
    const why = `${used.command} keeps no session that another run can continue`;
    diagnostics.error(["session"], `${why}; use pi, claude, codex or gemini`);
  } else if (session.whileRunning === "steer" && !program.takesMessages) {
    const why = `${program.name} accepts no messages while it works`;
    diagnostics.error(["session", "whileRunning"], `${why}; use "wait", or pi or claude`);
  } else if (session.maxTokens !== undefined && !program.compacts) {
    const why = `${program.name} has no setting for the size of a session`;
    diagnostics.error(["session", "maxTokens"], `${why}; remove the key`);
  }
}
