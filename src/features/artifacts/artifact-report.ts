import { z } from "zod";
import { fileKinds } from "./file-kind.ts";

const artifactSchema = z
  .object({
    path: z.string().meta({ description: "Relative to `out/`" }),
    bytes: z.int(),
    kind: z.enum(fileKinds).meta({
      description:
        "`text`, an image by its content, or `binary`. Known secrets in texts were redacted; other files were not scanned",
    }),
    executable: z.boolean(),
    sha256: z.string().meta({ description: "Of the stored content" }),
  })
  .meta({ id: "Artifact" });
export type ArtifactView = z.infer<typeof artifactSchema>;

/** The files of a run. */
export const artifactsSchema = z
  .object({
    files: z.array(artifactSchema).meta({ description: "In the order of their paths" }),
    bytes: z.int().meta({ description: "Total of the files" }),
    leftOut: z.object({
      files: z
        .array(z.object({ path: z.string(), bytes: z.int().nullable(), why: z.string() }))
        .meta({ description: "The first 100 files in `out/` that were not kept, and why" }),
      more: z.int().meta({ description: "How many others were not kept" }),
    }),
    dropped: z.int().meta({
      description:
        "How many files were deleted again, because the project's artifacts exceeded `[artifacts].maxBytes`",
    }),
  })
  .meta({ id: "Artifacts" });
export type ArtifactsView = z.infer<typeof artifactsSchema>;

/** The most bytes of a text that one answer has. */
const mostTextBytes = 256 * 1024;

export const artifactTextQuery = z.object({
  path: z.string().max(1024),
  from: z.coerce.number().int().min(0).default(0).meta({
    description: "Offset in bytes: the `next` of an earlier answer",
  }),
  most: z.coerce.number().int().min(4).max(mostTextBytes).default(65_536).meta({
    description: "Most bytes of the text",
  }),
});

/** A part of a text file. */
export const artifactTextSchema = z
  .object({
    path: z.string(),
    bytes: z.int().meta({ description: "Of the whole file" }),
    text: z.string(),
    next: z.int().nullable().meta({ description: "`from` of the next part; null at the end" }),
  })
  .meta({ id: "ArtifactText" });
export type ArtifactTextView = z.infer<typeof artifactTextSchema>;
