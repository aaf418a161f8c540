import { usageError } from "../../../foundation/errors.ts";
import { jsonOrText, done, maxTextLength, type RequestRow } from "./row.ts";

/** Requests that the run performs by writing to its output, so that they work while the scheduler is down. */
export const signalRequests = {
  status: {
    request: (z) =>
      z.strictObject({
        text: z
          .string()
          .trim()
          .min(1)
          .max(maxTextLength)
          .describe("Your current step, in one short line."),
      }),
    answer: done,
    tool: {
      name: "al_status",
      description:
        "Shows your current step, in one line, to the people who watch this agent. Use it when a new step begins.",
    },
    command: {
      name: "al-status",
      usage: "al-status <text>",
      purpose: "shows people your current step, in one line",
      body: (args) => ({ text: args.words("text").join(" ") }),
    },
  },
  return: {
    request: (z) => z.strictObject({ value: z.unknown().describe("Any JSON value, or text.") }),
    answer: done,
    tool: {
      name: "al_return",
      description:
        "Sets the value that this run returns to its caller, such as the agent that called you. The last value is returned. This does not end the run.",
    },
    command: {
      name: "al-return",
      usage: "al-return [value]",
      purpose:
        "sets the value that this run returns to its caller: JSON or text, also from standard input",
      body: async (args) => ({ value: jsonOrText(args.optionalWord() ?? (await args.stdin())) }),
    },
  },
  exit: {
    request: (z) =>
      z.strictObject({
        code: z.int().min(0).max(255).optional().describe("0 (default) means success."),
      }),
    answer: done,
    tool: {
      name: "al_exit",
      description:
        "Ends this run now. Use it when there is nothing to do (0) or when the work can't be done (1 to 255).",
    },
    command: {
      name: "al-exit",
      usage: "al-exit [code]",
      purpose: "ends this run now; 0 (default) means success",
      body: (args) => {
        const code = args.optionalWord() ?? "0";
        if (/^\d{1,3}$/.test(code) && Number(code) <= 255) return { code: Number(code) };
        throw usageError(`"${code}" is not an exit code: use a number from 0 to 255`);
      },
    },
  },
  rerun: {
    request: (z) => z.strictObject({}),
    answer: done,
    tool: {
      name: "al_rerun",
      description:
        "Starts this agent again immediately after this run succeeds. Use it when there is more work than fits into one run.",
    },
    command: {
      name: "al-rerun",
      usage: "al-rerun",
      purpose: "starts this agent again immediately after this run succeeds",
      body: () => ({}),
    },
  },
} as const satisfies Readonly<Record<string, RequestRow>>;
