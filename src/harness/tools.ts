import { z } from "zod";
import type { Job } from "../contracts/job.ts";
import type { RunRequestName } from "./run-api/run-requests.ts";

/** A tool that the harness gives the model beside its own: something to ask of the scheduler. */
export interface HarnessTool {
  readonly name: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
  /** For the model; the ability checks by a schema of its own. */
  readonly parameters: z.ZodObject;
  readonly ability: RunRequestName;
}

const seconds = z.number().min(0);
const resource = z.string().describe("A URI, such as github:acme/app/issues/7.");
const callIds = z.array(z.string()).min(1).describe("From al_call.");

const signals: readonly HarnessTool[] = [
  {
    name: "al_status",
    ability: "status",
    description:
      "Shows one line about what you are doing to the people who watch this agent. Use it when a new step begins.",
    parameters: z.object({
      text: z.string().min(1).max(2000).describe("What you are doing, in one short line."),
    }),
  },
  {
    name: "al_return",
    ability: "return",
    description:
      "Sets what this run returns to whoever asked for it, such as the agent that called you. The last value counts; it doesn't end the run.",
    parameters: z.object({ value: z.unknown().describe("Any JSON value, or a text.") }),
  },
  {
    name: "al_exit",
    ability: "exit",
    description:
      "Ends this run now. Use it when there is nothing to do (0) or when the work can't be done (1 to 255).",
    parameters: z.object({
      code: z.int().min(0).max(255).optional().describe("0, the default: it succeeded."),
    }),
  },
];

const rerun: HarnessTool = {
  name: "al_rerun",
  ability: "rerun",
  description:
    "Has this agent started again at once when this run has succeeded. Use it when there is more work than fits into one run.",
  parameters: z.object({}),
};

const coordination: readonly HarnessTool[] = [
  {
    name: "al_lock",
    ability: "lock",
    description:
      "Takes an exclusive lock, so that no other run works on the same thing. Refused with its holder when it is held. It is freed when this run ends, or when its time is over.",
    parameters: z.object({
      resource,
      ttlSeconds: seconds.optional().describe("Time after which it is freed by itself."),
      waitSeconds: seconds.optional().describe("How long to wait for it when it is held."),
    }),
  },
  {
    name: "al_unlock",
    ability: "unlock",
    description: "Frees a lock that this run holds.",
    parameters: z.object({ resource }),
  },
  {
    name: "al_lock_heartbeat",
    ability: "lock-heartbeat",
    description: "Extends a lock that this run holds; use it before its time is over.",
    parameters: z.object({ resource, ttlSeconds: seconds.optional() }),
  },
  {
    name: "al_call",
    ability: "call",
    description:
      "Hands work to another agent, which does it in a run of its own. Answers at once with a callId; al_call_wait waits for what it returns.",
    parameters: z.object({
      agent: z.string().describe("The agent's name."),
      context: z.string().describe("All that it needs to know: it sees nothing of this session."),
      cancelOnExit: z.boolean().optional().describe("Ends the call when this run ends."),
    }),
  },
  {
    name: "al_call_check",
    ability: "call-check",
    description: "Tells the state of calls, and of those that ended what they returned.",
    parameters: z.object({ callIds }),
  },
  {
    name: "al_call_wait",
    ability: "call-wait",
    description:
      "Waits until all of these calls ended, or the time is over; then as al_call_check.",
    parameters: z.object({ callIds, timeoutSeconds: seconds.optional() }),
  },
  {
    name: "wait_for_trigger",
    ability: "wait",
    description:
      "Waits for a webhook delivery or a call of another agent to this one, such as the answer to what you just posted. One that came since this run began meets it at once, the oldest first, so say by event and where which you mean. What ends the wait starts no other run.",
    parameters: z.object({
      kind: z.enum(["webhook", "agent-call"]),
      source: z.string().optional().describe("The webhook source, or the calling agent."),
      event: z.string().optional().describe("The event's type, such as issue_comment."),
      where: z
        .looseObject({})
        .optional()
        .describe(
          'Values that the payload must have, by path: {"issue.number": 7, "issue.labels.0.name": "bug"}.',
        ),
      timeoutSeconds: seconds
        .optional()
        .describe("0 only looks at what came already; the agent's waitTimeout is the longest."),
    }),
  },
];

/** The tools of a run: what it has no way to is not offered to its model. */
export function toolsFor({ trigger, channel }: Pick<Job, "trigger" | "channel">) {
  return [
    ...signals,
    ...(trigger.kind === "cron" ? [rerun] : []),
    ...(channel === null ? [] : coordination),
  ];
}
