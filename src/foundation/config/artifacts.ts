import { z } from "zod";
import { agentKey, fact } from "./config-key.ts";
import { describeValues } from "./format-value.ts";
import { memorySize, sizeBytes, table, writtenSize } from "./fields.ts";

/** The project's `[artifacts]`. */
export const projectArtifactsSchema = table({
  maxBytes: memorySize()
    .default("2g")
    .describe("Maximum size of the artifacts of all runs. Those of the oldest runs are deleted."),
});

/** An agent's `[artifacts]`. */
export const artifactsKey = agentKey({
  inFile: "artifacts",
  field: table({
    maxBytes: memorySize()
      .default("50m")
      .describe(
        "Maximum size of the artifacts of one run. Files are kept in the order of their names as long as they fit; the run's page lists the others. 0 keeps none.",
      ),
  })
    .prefault({})
    .describe(
      "Files that a run leaves in the folder `out/` of its working directory are kept with the run.",
    ),
  resolve: ({ maxBytes }) => sizeBytes(maxBytes),
  written: (maxBytes) => ({ maxBytes: writtenSize(maxBytes) }),
  value: z.int(),
  // The limit does not affect a run.
  canonical: () => null,
  change: (before, after) =>
    describeValues("artifacts.maxBytes", writtenSize(before), writtenSize(after)),
  facts: (maxBytes) =>
    fact("Artifacts", maxBytes === defaultBytes ? null : `at most ${writtenSize(maxBytes)} a run`),
});

const defaultBytes = 50 * 1024 ** 2;
