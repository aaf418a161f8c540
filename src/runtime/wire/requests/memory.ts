import { usageError } from "../../../foundation/errors.ts";
import { answerWith, done, shownName, type CommandArguments, type RequestRow } from "./row.ts";

const acts = ["add", "has"] as const;

/** Requests about the agent's memory. */
export const memoryRequests = {
  seen: {
    request: (z) =>
      z.strictObject({
        act: z.enum(acts).describe("add remembers the id; has only asks."),
        id: shownName(z).min(1).describe("Such as an issue's address or a message's id."),
      }),
    answer: (z) =>
      answerWith(z, {
        /** Whether the id was added before this request. */
        isSeen: z.boolean(),
      }),
    shown: ["id"],
    isVital: true,
    tool: {
      name: "al_seen",
      description:
        "Remembers ids of things that were handled, for all later runs of this agent, also if this run fails: the latest 10,000. isSeen tells whether the id was there before. Use it so that nothing is handled twice.",
    },
    command: {
      name: "al-seen",
      usage: "al-seen add|has <id>",
      purpose:
        "remembers the id of a thing that was handled, for all later runs; has exits with 0 if the id was added before, else with 1",
      body: seenBody,
      exitCode: ({ act }, answer) => (act === "has" && answer.isSeen !== true ? 1 : 0),
    },
  },
  "memory-problem": {
    request: (z) => z.strictObject({ tree: z.string(), problem: z.string().max(4_000) }),
    answer: done,
    isVital: true,
    isOfHarness: true,
  },
} as const satisfies Readonly<Record<string, RequestRow>>;

/** A request that the run performs itself: it looks at its own files. */
export const memoryCheckRequests = {
  "memory-check": {
    request: (z) => z.strictObject({}),
    answer: (z) =>
      answerWith(z, {
        isWithin: z.boolean(),
        memories: z.array(
          z.object({
            tree: z.string(),
            bytes: z.number(),
            maxBytes: z.number(),
            problems: z.array(z.string()),
          }),
        ),
      }),
    command: {
      name: "al-memory",
      usage: "al-memory check",
      purpose:
        "checks memory/ and shared/ against their limits and schemas; exits with 1 if they would not be kept",
      body: (args) => {
        const act = args.word("act");
        if (act === "check") return {};
        throw usageError(`"${act}" is not "check"`);
      },
      exitCode: (_body, answer) => (answer.isWithin === true ? 0 : 1),
    },
  },
} as const satisfies Readonly<Record<string, RequestRow>>;

function seenBody(args: CommandArguments): { readonly act: string; readonly id: string } {
  const act = args.word("act");
  if (act !== "add" && act !== "has") throw usageError(`"${act}" is neither "add" nor "has"`);
  return { act, id: args.word("id") };
}
