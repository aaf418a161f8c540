import { usageError } from "../../../foundation/errors.ts";
import { answerWith, jsonOrText, done, seconds, shownName } from "./row.ts";
import type { RequestRow, Zod, CommandArguments } from "./row.ts";

/** Limited because each delivery is compared with each condition of every waiting run. */
const maxConditions = 32;

const scalar = (z: Zod) => z.union([z.string().max(1024), z.number(), z.boolean(), z.null()]);

/** Maps a path in the payload (`issue.labels.0.name`) to its required value. */
const where = (z: Zod) =>
  z
    .record(z.string().max(200), scalar(z))
    .refine((conditions) => Object.keys(conditions).length <= maxConditions, {
      error: `at most ${maxConditions} conditions`,
    });

/** Requests that wait for triggers. */
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
            'Required values in the payload, by path: {"issue.number": 7, "issue.labels.0.name": "bug"}.',
          ),
        /** Bounded by the agent's `waitTimeout`, which is also the default. */
        timeoutSeconds: seconds(z)
          .optional()
          .describe("0 only checks earlier triggers. The maximum is the agent's waitTimeout."),
      }),
    answer: (z) =>
      answerWith(z, {
        timedOut: z.boolean(),
        /** Present if the wait was shorter than requested. */
        limited: z
          .object({ askedSeconds: z.number(), timeoutSeconds: z.number(), why: z.string() })
          .optional(),
        /** The trigger that ended the wait, in the form of a prompt's trigger; null if the wait timed out. */
        trigger: z.record(z.string(), z.unknown()).nullable(),
      }),
    shown: ["source", "event", "where"],
    canWait: true,
    tool: {
      name: "wait_for_trigger",
      description:
        "Waits for a webhook delivery, or for another agent's call to this agent, such as the answer to your last post. A trigger that arrived since this run began ends the wait immediately, the oldest first, so select the right one with event and where. The trigger that ends the wait starts no other run.",
    },
    command: {
      name: "wait_for_trigger",
      usage:
        "wait_for_trigger --kind webhook|agent-call [--source S] [--event E] [--where path=value]... [--timeout SECONDS]",
      purpose:
        "waits for a webhook delivery or an agent's call that matches the conditions, including earlier ones since the run began",
      options: { kind: "text", source: "text", event: "text", where: "list", timeout: "text" },
      body: waitBody,
    },
  },
  /** Cancels the run's waiting request with the same key. */
  cancel: { request: (z) => z.strictObject({}), answer: done },
} as const satisfies Readonly<Record<string, RequestRow>>;

function waitBody(args: CommandArguments): object {
  const kind = args.text("kind");
  if (kind !== "webhook" && kind !== "agent-call") {
    throw usageError("--kind webhook or --kind agent-call is missing");
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

/** Parses `path=value`. The value is a number, true, false, null or a quoted text as JSON; else the text itself. */
function condition(text: string): readonly [string, unknown] {
  const [path = "", ...rest] = text.split("=");
  if (path === "" || rest.length === 0) {
    throw usageError(`--where ${text} is not path=value`);
  }
  const value = jsonOrText(rest.join("="));
  return [path, typeof value === "object" && value !== null ? rest.join("=") : value];
}

/** Waits for budget; the harness sends this by itself after the budget refused a call to a model. */
export const budgetRequests = {
  "budget-wait": {
    request: (z) => z.strictObject({}),
    /** `paid` is false if the agent's runs stop at their limits instead of waiting. */
    answer: (z) => answerWith(z, { paid: z.boolean() }),
    canWait: true,
  },
} as const satisfies Readonly<Record<string, RequestRow>>;
