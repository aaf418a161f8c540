import { outcomes } from "../../../../streams/outcomes.ts";
import { z } from "zod";
import { triggerKinds } from "../../../../streams/vocabulary.ts";
import { runSchema } from "../../../runtime/runs/run-view.ts";
import { fittingPage } from "../bounded.ts";
import { history, runRow } from "../rows.ts";
import { agentName, cursor, jsonText, labelled, limitOf, next } from "../tool.ts";
import { optionalText, readsOnly, since, tool } from "../tool.ts";
import { untilEnded, waitInput } from "../wait.ts";

export const runs = tool({
  title: "List runs",
  description:
    "Triggers and their outcomes, newest first, of one agent or all. With `refused`, only work that started no run.",
  annotations: readsOnly,
  input: z.object({
    agent: agentName.optional(),
    outcome: z.enum(outcomes).optional(),
    kind: z.enum(triggerKinds).optional(),
    refused: z.literal(true).optional(),
    since,
    limit: limitOf(20),
    cursor,
  }),
  output: z.object({ runs: z.array(runRow.schema), next }),
  run: async ({ cursor: before, limit, refused, ...filters }, api) => {
    const { rows, ...rest } = await fittingPage(limit, (most) =>
      history(api, { ...filters, refused: refused && "true", before, limit: most }),
    );
    return { runs: rows, ...rest };
  },
});

const runDetail = labelled(
  runSchema.extend({
    value: optionalText.meta({ description: "The value that it returned, as JSON" }),
    reason: optionalText.meta({ description: "Why it ended like this" }),
  }),
  [
    ...(["instanceId", "id", "agent", "kind", "at", "outcome", "startedAt", "endedAt"] as const),
    ...(["durationMs", "exitCode", "attempt", "spend", "version", "lastSuccess"] as const),
    ...(["failing", "receiptId", "replayOf", "scheduledFor", "isKept", "continues"] as const),
    ...(["continuedBy", "late"] as const),
  ],
  [
    ...(["reason", "value", "lastWords", "prompt", "payload", "model", "source"] as const),
    ...(["event", "action", "messages", "hosts"] as const),
  ],
);

/** Texts of a run that may be long: each can be read in parts. */
const longTexts = ["value", "lastWords", "prompt", "payload"] as const;
const partLength = 15_000;

export const run = tool({
  title: "Show a run",
  description:
    "One run: its outcome and reason, cost, version, and what it returned; with `wait`, once it has ended. A long text is read in parts with `text` and `from`.",
  annotations: readsOnly,
  input: z.object({
    instanceId: z.string().min(1),
    wait: waitInput,
    text: z.enum(longTexts).optional().meta({ description: "Only this text, from `from` on" }),
    from: z.int().min(0).default(0),
  }),
  output: z.object({
    run: runDetail.schema,
    next: z.int().nullable().meta({ description: "`from` of the text's next part" }),
  }),
  run: async ({ instanceId, wait, text, from }, api) => {
    const read = async () => {
      const view = await api.perform("GET /api/runs/:instanceId", { instanceId });
      return runDetail.of({ ...view, value: jsonText(view.value) });
    };
    const found = await untilEnded(wait, read, api);
    if (text === undefined) return { run: found, next: null };
    const whole = found.untrusted[text] ?? "";
    const others = { value: null, lastWords: null, prompt: null, payload: null };
    const to = from + partLength;
    const untrusted = { ...found.untrusted, ...others, [text]: whole.slice(from, to) };
    return { run: { ...found, untrusted }, next: to < whole.length ? to : null };
  },
});
