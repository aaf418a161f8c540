import { done, seconds, shownName } from "./fields.ts";
import { jsonOrText, UsageError } from "./command-row.ts";
import type { CommandArguments } from "./command-row.ts";
import type { RequestRow, Zod } from "./row.ts";

/** Each delivery is compared with each condition of every waiting run. */
const maxConditions = 32;

const scalar = (z: Zod) => z.union([z.string().max(1024), z.number(), z.boolean(), z.null()]);

/** A path in the payload (`issue.labels.0.name`) to the value that it must have. */
const where = (z: Zod) =>
  z
    .record(z.string().max(200), scalar(z))
    .refine((conditions) => Object.keys(conditions).length <= maxConditions, {
      error: `at most ${maxConditions} conditions`,
    });

/** Waits for triggers. */
export const waitRequests = {
  wait: {
    request: (z) =>
      z.strictObject({
        kind: z.enum(["webhook", "agent-call"]),
        source: shownName(z).optional().describe("The webhook source, or the calling agent."),
        event: shownName(z).optional().describe("The event's type, such as issue_comment."),
        where: where(z)
          .optional()
          .describe(
            'Values that the payload must have, by path: {"issue.number": 7, "issue.labels.0.name": "bug"}.',
          ),
        /** Bounded by the agent's `waitTimeout`, which is also the default. */
        timeoutSeconds: seconds(z)
          .optional()
          .describe("0 only looks at what came already; the agent's waitTimeout is the longest."),
      }),
    answer: (z) =>
      z.object({
        ok: z.literal(true),
        timedOut: z.boolean(),
        /** Present when the wait was shorter than the request asked for. */
        limited: z
          .object({ askedSeconds: z.number(), timeoutSeconds: z.number(), why: z.string() })
          .optional(),
        /** What ended the wait, as a prompt describes a trigger; null when it timed out. */
        trigger: z.record(z.string(), z.unknown()).nullable(),
      }),
    shown: ["source", "event", "where"],
    waitSeconds: ({ timeoutSeconds }) => Number(timeoutSeconds ?? Infinity),
    tool: {
      name: "wait_for_trigger",
      description:
        "Waits for a webhook delivery or a call of another agent to this one, such as the answer to what you just posted. One that came since this run began meets it at once, the oldest first, so say by event and where which you mean. What ends the wait starts no other run.",
    },
    command: {
      name: "wait_for_trigger",
      usage:
        "wait_for_trigger --kind webhook|agent-call [--source S] [--event E] [--where path=value]... [--timeout SECONDS]",
      purpose:
        "waits for a webhook delivery or an agent's call that meets the conditions, also one since the run began",
      options: { kind: "text", source: "text", event: "text", where: "list", timeout: "text" },
      body: waitBody,
    },
  },
  /** The run no longer waits for the answer to its request of the same key: any that may wait. */
  cancel: { request: (z) => z.strictObject({}), answer: done },
} as const satisfies Readonly<Record<string, RequestRow>>;

function waitBody(args: CommandArguments): object {
  const kind = args.text("kind");
  if (kind !== "webhook" && kind !== "agent-call") {
    throw new UsageError("--kind webhook or --kind agent-call is missing");
  }
  const conditions = args.list("where").map(condition);
  return {
    kind,
    source: args.text("source"),
    event: args.text("event"),
    where: conditions.length === 0 ? undefined : Object.fromEntries(conditions),
    timeoutSeconds: args.seconds("timeout"),
  };
}

/** A number, true, false, null or a quoted text as JSON; else the text itself. */
function condition(text: string): readonly [string, unknown] {
  const [path = "", ...rest] = text.split("=");
  if (path === "" || rest.length === 0) {
    throw new UsageError(`--where ${text} is not path=value`);
  }
  const value = jsonOrText(rest.join("="));
  return [path, typeof value === "object" && value !== null ? rest.join("=") : value];
}
