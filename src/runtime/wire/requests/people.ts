import { answerWith, done, maxTextLength, type RequestRow, type Zod } from "./row.ts";

/** The most parts of one session. */
const maxSessionParts = 64;

const sessionPart = (z: Zod) => ({
  part: z
    .int()
    .min(0)
    .max(maxSessionParts - 1),
  isLast: z.boolean(),
  /** Entries as JSON, one a line. */
  entries: z.string().max(maxTextLength),
});

/** Requests that the harness makes for people; an agent can't make them. */
export const peopleRequests = {
  /**
   * Waits for messages of people after the one with this number, which the run has received. With `isLast` it does not
   * wait, and once there are none, people can send no more.
   */
  inbox: {
    request: (z) => z.strictObject({ after: z.int().min(0), isLast: z.boolean().optional() }),
    answer: (z) =>
      answerWith(z, {
        messages: z.array(
          z.object({
            seq: z.int(),
            kind: z.enum(["steer", "stop"]),
            text: z.string(),
            by: z.string(),
          }),
        ),
      }),
    isOfHarness: true,
  },
  /** The session has ended, so that people can send no more; the run's hooks may still work. */
  "session-end": {
    request: (z) => z.strictObject({}),
    answer: done,
    isVital: true,
    isOfHarness: true,
  },
  /** Stores a part of the run's session, the parts in their order. */
  "keep-session": {
    request: (z) => z.strictObject(sessionPart(z)),
    answer: done,
    isOfHarness: true,
  },
  /** Reads a part of the session that the run continues. */
  "kept-session": {
    request: (z) => z.strictObject({ part: sessionPart(z).part }),
    answer: (z) => answerWith(z, { ...sessionPart(z) }),
    isOfHarness: true,
  },
} as const satisfies Readonly<Record<string, RequestRow>>;
