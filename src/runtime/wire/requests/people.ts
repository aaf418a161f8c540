import { answerWith, done, type RequestRow } from "./row.ts";

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
            kind: z.enum(["steer", "stop", "delivery"]),
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
} as const satisfies Readonly<Record<string, RequestRow>>;
