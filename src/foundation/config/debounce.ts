import { z } from "zod";
import { deliveredParts, type Debounce } from "../../../streams/agent-config.ts";
import { durationText } from "../../../streams/duration-text.ts";
import { templateProblem } from "../../../streams/triggers/key-template.ts";
import { agentKey, fact } from "./config-key.ts";
import { describeKeys } from "./format-value.ts";
import { choice, durationMs, table, writtenDuration } from "./fields.ts";

const maxMs = 24 * 3_600_000;
const expected = 'a length of time from 1 second to 24 hours, e.g. "30s" or "5m"';

function shortDuration() {
  return z.string({ error: expected }).refine((text) => {
    const ms = durationMs(text);
    return ms !== undefined && ms >= 1000 && ms <= maxMs;
  }, expected);
}

const keyTemplate = z
  .string({ error: 'a template, e.g. "{repository}#{number}"' })
  .superRefine((template, context) => {
    const problem = templateProblem(template);
    if (problem !== null) context.addIssue({ code: "custom", message: problem });
  });

const schema = table({
  key: keyTemplate.optional().meta({
    description:
      "Deliveries with the same key gather for one run: a template over the attributes of the delivery. A delivery that lacks one of its attributes starts its own run, with a warning.",
    fallback: "all deliveries of the agent gather together",
  }),
  quiet: shortDuration()
    .default("30s")
    .describe("The run starts once no further delivery of the key came for this long."),
  most: shortDuration()
    .default("5m")
    .describe("The run starts this long after the first delivery, even if more keep coming."),
  deliver: choice(deliveredParts)
    .default("latest")
    .describe(
      'What the run gets: the payload of the latest delivery and how many it represents ("latest"), or all payloads in order, in the file `AL_DELIVERIES_FILE` ("all").',
    ),
});

/** An agent's `[debounce]`. */
export const debounceKey = agentKey({
  inFile: "debounce",
  field: schema
    .optional()
    .describe(
      'Gathers webhook deliveries that come shortly after one another into one run. Senders are answered at once, and gathering deliveries survive a restart. A run gets at most 100 deliveries, with `deliver = "all"` at most 1 MiB of payloads. Older ones become dead letters. `al agent start-now` starts the run at once.',
    ),
  resolve: (given): Debounce | null => {
    if (given === undefined) return null;
    const { key = null, quiet, most, deliver } = given;
    return { key, quietMs: durationMs(quiet) ?? 0, mostMs: durationMs(most) ?? 0, deliver };
  },
  written,
  value: z
    .object({
      key: z.string().nullable(),
      quietMs: z.int(),
      mostMs: z.int(),
      deliver: z.enum(deliveredParts),
    })
    .nullable(),
  change: (before, after) => describeKeys("debounce", written(before), written(after)),
  facts: (given) => fact("Gathers deliveries", given && debounceText(given)),
});

/** The table under the file's keys. */
function written(given: Debounce | null): object | null {
  if (given === null) return null;
  const { key, quietMs, mostMs, deliver } = given;
  return { key, quiet: writtenDuration(quietMs), most: writtenDuration(mostMs), deliver };
}

/** `for 30 s without another of {repository}#{number}, at most 5 min` */
export function debounceText({ key, quietMs, mostMs }: Debounce): string {
  const other = key === null ? "another" : `another of ${key}`;
  return `for ${durationText(quietMs)} without ${other}, at most ${durationText(mostMs)}`;
}
