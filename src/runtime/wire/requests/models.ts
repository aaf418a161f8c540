import { answerWith, type RequestRow, type Zod } from "./row.ts";

/** Why a call to a model failed, and whether a repetition helps. The message is for a person and completes `model "x": …`. */
const failure = (z: Zod) =>
  z.object({
    /**
     * `retry`: the same request may succeed later. `fallback`: asking this model again doesn't help; another may do
     * better. `fail`: neither helps.
     */
    kind: z.enum(["retry", "fallback", "fail"]),
    message: z.string(),
    /** How long the provider asks to wait, in ms. */
    retryAfterMs: z.number().optional(),
    /** How long other runs should skip the model, in ms; absent if waiting doesn't help. */
    cooldownMs: z.number().optional(),
    /** The attempt used up its time limit. */
    isSlow: z.literal(true).optional(),
    /** Only the lack of money caused the failure. */
    lacksMoney: z.literal(true).optional(),
  });

/** Requests of the harness about its calls to models. */
export const modelRequests = {
  /** The gateway's verdict on the call that the harness sent under this id, else on the latest without an id. */
  "model-verdict": {
    request: (z) => z.strictObject({ call: z.uuid().optional() }),
    answer: (z) =>
      answerWith(z, {
        /** Null for an unknown call: the scheduler was restarted since. */
        verdict: z
          .object({
            /** Null for an answer that the provider completed. */
            failure: failure(z).nullable(),
            /** How many calls without an id failed in a row, up to this one. */
            failures: z.int().optional(),
          })
          .nullable(),
      }),
    isOfHarness: true,
  },
} as const satisfies Readonly<Record<string, RequestRow>>;
