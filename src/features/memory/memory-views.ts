import { z } from "zod";
import { personSchema } from "../../foundation/contracts/question-views.ts";
import { nullableText, pageSize } from "../../foundation/contracts/wire-fields.ts";

/** Memories on the wire; times ISO 8601 UTC. */
const time = z.iso.datetime();
const versionNumber = z.int().meta({ description: "1, 2, …; 0 for the empty memory before them" });

const fileSchema = z.object({ path: z.string(), bytes: z.int(), isExecutable: z.boolean() });

/** Changes from the version before. */
export const fileChangesSchema = z.object({
  count: z.int(),
  files: z
    .array(z.object({ path: z.string(), change: z.enum(["added", "changed", "removed"]) }))
    .readonly()
    .meta({ description: "The first 20 in the order of their paths" }),
});

export const memoryVersionSchema = z
  .object({
    n: versionNumber,
    at: time,
    instanceId: nullableText.meta({ description: "The run; null for a restored version" }),
    by: personSchema.nullable().meta({
      description: "Who restored it, or allowed it as a proposal; null for that of a trusted run",
    }),
    files: z.int(),
    bytes: z.int(),
    conflicts: z.array(z.string()).readonly().meta({ description: "Paths of its conflict files" }),
    changes: fileChangesSchema,
  })
  .meta({ id: "MemoryVersion" });
export type MemoryVersionView = z.infer<typeof memoryVersionSchema>;

export const memorySchema = z
  .object({
    name: z.string().meta({ description: "`<agent>`, or `shared/<name>`" }),
    version: versionNumber,
    files: z.array(fileSchema).readonly(),
    bytes: z.int(),
    limits: z
      .object({ maxBytes: z.int(), maxFileBytes: z.int() })
      .nullable()
      .meta({ description: "Null if the config no longer has the memory" }),
    shared: z
      .array(z.string())
      .readonly()
      .meta({ description: "Names of the shared memories of the agent's runs" }),
    conflicts: z.array(z.string()).readonly(),
    proposals: z.int().meta({ description: "How many changes wait for a person" }),
    notKept: z
      .object({ instanceId: z.string(), at: time, reason: z.string() })
      .nullable()
      .meta({ description: "The last tree that was not kept; null if a later one was" }),
  })
  .meta({ id: "Memory" });
export type MemoryView = z.infer<typeof memorySchema>;

export const memoriesSchema = z.object({
  memories: z
    .array(
      z.object({
        name: z.string(),
        version: versionNumber,
        at: time.nullable(),
        files: z.int(),
        bytes: z.int(),
        proposals: z.int(),
      }),
    )
    .readonly(),
});

export const memoryVersionsQuery = z.object({
  before: z.coerce.number().int().optional().meta({ description: "The `next` of an earlier page" }),
  limit: pageSize(100, 20),
});
export const memoryVersionsSchema = z
  .object({
    versions: z.array(memoryVersionSchema).readonly(),
    next: z.int().nullable(),
  })
  .meta({ id: "MemoryVersions" });
export type MemoryVersionsView = z.infer<typeof memoryVersionsSchema>;

const versionQuery = z.coerce.number().int().min(0).optional();

export const memoryDifferenceQuery = z.object({
  from: versionQuery.meta({ description: "Default: the version before `to`" }),
  to: versionQuery.meta({ description: "Default: the latest version" }),
});
export const memoryDifferenceSchema = z
  .object({
    name: z.string(),
    from: versionNumber,
    to: versionNumber,
    changes: fileChangesSchema,
    text: z.string().meta({ description: "Unified diff; empty if both have the same files" }),
  })
  .meta({ id: "MemoryDifference" });
export type MemoryDifference = z.infer<typeof memoryDifferenceSchema>;

export const memoryTextQuery = z.object({ path: z.string().max(1024), version: versionQuery });
export const memoryTextSchema = z
  .object({
    path: z.string(),
    version: versionNumber,
    bytes: z.int(),
    text: nullableText.meta({ description: "Null for a binary file, and for a large one" }),
  })
  .meta({ id: "MemoryText" });
export type MemoryText = z.infer<typeof memoryTextSchema>;

/** The memories that one run changed or could not change. */
export const runMemorySchema = z.object({
  versions: z.array(
    memoryVersionSchema.pick({ n: true, changes: true }).extend({ name: z.string() }),
  ),
  proposals: z.array(
    z.object({ id: z.string(), name: z.string(), state: z.enum(["open", "allowed", "denied"]) }),
  ),
  notKept: z.array(z.object({ name: z.string(), reason: z.string() })),
});
