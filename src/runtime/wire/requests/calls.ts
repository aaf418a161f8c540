import { outcomes } from "../../../../streams/outcomes.ts";
import { answerWith, maxTextLength, seconds, type RequestRow, type Zod } from "./row.ts";

const callStates = ["queued", "running", "ended"] as const;
const callIds = (z: Zod) => z.array(z.uuid()).min(1).max(100).describe("From al_call.");

const calledAgents = (z: Zod) =>
  z.array(
    z.object({
      callId: z.string(),
      agent: z.string(),
      state: z.enum(callStates),
      outcome: z.enum(outcomes).nullable(),
      exitCode: z.int().nullable(),
      /** The callee's return value; null if it returned none. */
      value: z.unknown(),
      reason: z.string().nullable(),
    }),
  );

/** Requests by which an agent delegates work to another agent. */
export const callRequests = {
  call: {
    request: (z) =>
      z.strictObject({
        agent: z.string().min(1).max(200).describe("The agent's name."),
        context: z
          .string()
          .max(maxTextLength)
          .describe("Everything that the agent needs to know. It sees nothing of this session."),
        cancelOnExit: z.boolean().optional().describe("Cancel the call when this run ends."),
      }),
    answer: (z) => answerWith(z, { callId: z.string(), state: z.enum(callStates) }),
    tool: {
      name: "al_call",
      description:
        "Calls another agent, which works in its own run. Returns a callId immediately. al_call_wait waits for the agent's return value.",
    },
    command: {
      name: "al-subagent",
      usage: "al-subagent <agent> [--cancel-on-exit] <CONTEXT_FILE",
      purpose: "calls another agent, and returns a callId immediately",
      options: { "cancel-on-exit": "flag" },
      body: async (args) => ({
        agent: args.word("agent"),
        context: await args.stdin(),
        cancelOnExit: args.flag("cancel-on-exit"),
      }),
    },
  },
  "call-check": {
    request: (z) => z.strictObject({ callIds: callIds(z) }),
    answer: (z) => answerWith(z, { calls: calledAgents(z) }),
    tool: {
      name: "al_call_check",
      description: "Returns the state of calls, and the return values of ended ones.",
    },
    command: {
      name: "al-subagent-check",
      usage: "al-subagent-check <callId>...",
      purpose: "prints the state of calls, and the return values of ended ones",
      body: (args) => ({ callIds: args.words("callId") }),
    },
  },
  "call-wait": {
    request: (z) => z.strictObject({ callIds: callIds(z), timeoutSeconds: seconds(z).optional() }),
    answer: (z) => answerWith(z, { timedOut: z.boolean(), calls: calledAgents(z) }),
    canWait: true,
    tool: {
      name: "al_call_wait",
      description:
        "Waits until all of these calls have ended or the time is over. Then returns the same as al_call_check.",
    },
    command: {
      name: "al-subagent-wait",
      usage: "al-subagent-wait <callId>... [--timeout SECONDS]",
      purpose: "waits until all calls have ended, then prints the same as al-subagent-check",
      options: { timeout: "text" },
      body: (args) => ({ callIds: args.words("callId"), timeoutSeconds: args.seconds("timeout") }),
    },
  },
  /** The run itself receives the files, and adds the `folder` to the answer. */
  "call-files": {
    request: (z) =>
      z.strictObject({
        callId: z.uuid().describe("From al_call."),
        path: z.string().max(1024).optional().describe("Only this file or folder. Default: all."),
      }),
    answer: (z) =>
      answerWith(z, {
        state: z.enum(callStates),
        files: z.array(z.object({ path: z.string(), bytes: z.int(), isText: z.boolean() })),
        /** How many files the list omits. */
        more: z.int(),
        /** Files that the called agent left and that were not kept. */
        leftOut: z.array(z.object({ path: z.string(), why: z.string() })),
      }),
    tool: {
      name: "al_artifact",
      description:
        "Receives the files that a called agent left in its folder out/ into a folder of this run, and returns that folder with their names. Use it after al_call_wait.",
    },
    command: {
      name: "al-artifact",
      usage: "al-artifact <callId> [path]",
      purpose: "receives the files that a called agent left in out/, and prints their folder",
      body: (args) => ({ callId: args.word("callId"), path: args.optionalWord() }),
    },
  },
} as const satisfies Readonly<Record<string, RequestRow>>;
