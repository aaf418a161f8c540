import { questionLimits } from "../../../foundation/contracts/question-kinds.ts";
import { usageError } from "../../../foundation/errors.ts";
import { answerWith, type CommandArguments, type RequestRow, type Zod } from "./row.ts";

const answer = (z: Zod) =>
  z.union([z.string().min(1).max(questionLimits.text), z.number(), z.boolean()]);

/** Questions of a run to people. */
export const questionRequests = {
  ask: {
    request: (z) =>
      z.strictObject({
        question: z
          .string()
          .trim()
          .min(1)
          .max(questionLimits.prompt)
          .describe("Everything that a person needs to decide. They see nothing of this session."),
        choices: z
          .array(z.string().trim().min(1).max(questionLimits.choice))
          .min(2)
          .max(questionLimits.choices)
          .optional()
          .describe(
            "The possible answers, without secrets. If absent, the answer has the type `type`.",
          ),
        type: z.enum(["text", "number", "boolean"]).optional().describe("Default: text."),
        min: z.number().optional().describe("The smallest number."),
        max: z.number().optional().describe("The largest number."),
        timeoutSeconds: z
          .number()
          .min(1)
          .max(questionLimits.seconds)
          .optional()
          .describe("How long people may take. Default: 86400."),
        default: answer(z)
          .optional()
          .describe("The answer if no person answers in time. If absent, this run then ends."),
      }),
    answer: (z) =>
      answerWith(z, {
        answer: answer(z),
        /** Who answered, such as `Ada via Slack`; null for the default. */
        by: z.string().nullable(),
        at: z.iso.datetime(),
      }),
    shown: ["choices", "default"],
    canWait: true,
    isVital: true,
    tool: {
      name: "al_ask",
      description:
        "Asks a person, and waits for the answer. Use it before an act that can't be undone, or when only a person can know. Waiting costs nothing, even for days.",
    },
    command: {
      name: "al-ask",
      usage:
        'al-ask "<question>" [--choice TEXT]... [--text|--number|--boolean] [--min N] [--max N] [--timeout 24h] [--default ANSWER]',
      purpose: "asks a person, waits for the answer, and prints it",
      options: {
        choice: "list",
        text: "flag",
        number: "flag",
        boolean: "flag",
        min: "text",
        max: "text",
        timeout: "text",
        default: "text",
      },
      body: askBody,
    },
  },
} as const satisfies Readonly<Record<string, RequestRow>>;

function askBody(args: CommandArguments): object {
  const choices = args.list("choice");
  const types = (["text", "number", "boolean"] as const).filter((type) => args.flag(type));
  if (types.length > 1 || (types.length > 0 && choices.length > 0)) {
    throw usageError("use only one of --choice, --text, --number and --boolean");
  }
  return {
    question: args.word("question"),
    choices: choices.length === 0 ? undefined : choices,
    type: types[0],
    min: numberIn(args, "min"),
    max: numberIn(args, "max"),
    timeoutSeconds: secondsIn(args.text("timeout")),
    default: args.text("default"),
  };
}

function numberIn(args: CommandArguments, option: string): number | undefined {
  const text = args.text(option);
  if (text === undefined) return undefined;
  if (text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  throw usageError(`--${option} ${text} is not a number`);
}

const unitSeconds: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3600, d: 86_400 };

/** `90`, `90s`, `30m`, `24h` or `7d`, in seconds. */
function secondsIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, digits = "", unit = ""] = /^(\d+)([smhd]?)$/.exec(text) ?? [];
  if (digits !== "") return Number(digits) * (unitSeconds[unit] ?? 1);
  throw usageError(`--timeout ${text} is not a time such as 90s, 30m, 24h or 7d`);
}
