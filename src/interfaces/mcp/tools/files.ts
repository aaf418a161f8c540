import { z } from "zod";
import {
  artifactsSchema,
  artifactTextSchema,
} from "../../../features/artifacts/artifact-report.ts";
import { labelled, readsOnly, tool } from "../tool.ts";

const instanceId = z.string().min(1);
const listing = labelled(artifactsSchema, ["bytes", "dropped"], ["files", "leftOut"]);

export const files = tool({
  title: "List the files of a run",
  description:
    "The files that a run left, by their paths, also of a failed run, and those that were not kept. read_file reads one with the kind `text`.",
  annotations: readsOnly,
  input: z.object({ instanceId }),
  output: listing.schema,
  run: async (input, api) =>
    listing.of(await api.perform("GET /api/runs/:instanceId/files", input)),
});

/** Leaves room for escapes: an answer has 20,000 characters. */
const partBytes = 12_000;
const part = labelled(artifactTextSchema, ["bytes", "next"], ["path", "text"]);

export const readFile = tool({
  title: "Read a file of a run",
  description: "A text file that a run left, in parts; the next part is read with `from`.",
  annotations: readsOnly,
  input: z.object({
    instanceId,
    path: z.string().min(1).meta({ description: "A path from files" }),
    from: z.int().min(0).default(0).meta({ description: "The `next` of an earlier answer" }),
  }),
  output: part.schema,
  run: async (input, api) => {
    const query = { ...input, most: partBytes };
    return part.of(await api.perform("GET /api/runs/:instanceId/file-text", query));
  },
});
