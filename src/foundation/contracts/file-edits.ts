import { z } from "zod";
import { upcomingRunsSchema } from "./upcoming-run.ts";
import { nullableText } from "./wire-fields.ts";

/** The files of an agent that people edit over HTTP. */
export const editableFiles = ["config.toml", "SKILL.md"] as const;
export type EditableFile = (typeof editableFiles)[number];

const hash = z.string().meta({ description: "Changes with the text" });

const shownFileSchema = z.object({
  name: z.enum(editableFiles),
  path: z.string().meta({ description: "Relative to the project" }),
  text: nullableText.meta({
    description: "Without known secrets: they are `[redacted]`. Null if the file can't be read",
  }),
  hash,
  problems: z
    .array(
      z.object({
        severity: z.enum(["error", "warning"]),
        line: z.int().nullable(),
        column: z.int().nullable(),
        message: z.string(),
      }),
    )
    .readonly(),
});
export type ShownFile = z.infer<typeof shownFileSchema>;

/** An agent's files as they are on disk, which may be newer than its active config. */
export const shownFilesSchema = z
  .object({
    isEditable: z.boolean().meta({ description: "`[gateway].edit` of the project" }),
    files: z.array(shownFileSchema).readonly(),
  })
  .meta({ id: "AgentFiles" });
export type ShownFiles = z.infer<typeof shownFilesSchema>;

const dryRun = z.boolean().default(false).meta({ description: "Whether nothing is written" });

/** Request to replace the text of a file. */
export const editFileSchema = z.strictObject({
  file: z.enum(editableFiles),
  text: z.string().meta({
    description: "Lines with `[redacted]` that are as they were shown keep their secrets",
  }),
  hash: hash.meta({ description: "Hash of the text that was edited" }),
  dryRun,
});
export type EditFileRequest = z.output<typeof editFileSchema>;

export const fileEditedSchema = z
  .object({
    success: z.literal(true),
    agent: z.string(),
    file: z.string().meta({ description: "Relative to the project" }),
    change: z
      .string()
      .meta({ description: "Unified diff; empty if nothing changes. Without secrets" }),
    written: z.boolean(),
    next: upcomingRunsSchema.optional().meta({
      description: "For an edit of schedules or of the time zone, the next runs by the new text",
    }),
  })
  .meta({ id: "FileEdited" });
export type FileEdited = z.infer<typeof fileEditedSchema>;
