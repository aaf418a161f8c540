import { z } from "zod";
import { agentKey, factOf } from "./config-key.ts";
import { table, texts } from "./fields.ts";

const commands = texts().default([]);
const hooksSchema = table({
  pre: commands.describe("Run before the session. One that fails ends the run, and that fails."),
  post: commands.describe(
    "Run after the session, also after one that failed, was ended or ran out of time; AL_OUTCOME has which. One that fails makes the run fail.",
  ),
});

const strings = z.array(z.string()).readonly();

export const hooksKey = agentKey({
  inFile: "hooks",
  field: hooksSchema
    .prefault({})
    .describe("Shell commands around the session, in the run's own environment."),
  resolve: (given): { readonly pre: readonly string[]; readonly post: readonly string[] } => given,
  value: z.object({ pre: strings, post: strings }),
  isLong: true,
  facts: ({ pre, post }) => [
    ...factOf("Before the session", pre),
    ...factOf("After the session", post),
  ],
});
