import { z } from "zod";
import { untrustedModes, type MemoryConfig } from "../../../streams/agent-config.ts";
import type { Diagnostic } from "../../../streams/vocabulary.ts";
import { agentNamePattern } from "../contracts/credential-reference.ts";
import { didYouMean } from "../contracts/did-you-mean.ts";
import { pathProblem, type TreeLimits } from "../contracts/file-tree.ts";
import { memoryTreeLimits } from "../contracts/memory-limits.ts";
import type { AgentFiles } from "./agent-files.ts";
import { agentKey, factOf } from "./config-key.ts";
import {
  choice,
  list,
  memorySize,
  pattern,
  sizeBytes,
  table,
  text,
  writtenSize,
} from "./fields.ts";
import { describeKeys, formatNames, formatValue, isEqual } from "./format-value.ts";
import type { ProjectConfig, ProjectMemory } from "./project-config.ts";
import { canonicalSchema, checkSchemaFile, readSchema, schemaFile } from "./schema-file.ts";
import type { Diagnostics } from "./validate.ts";

const anySize: TreeLimits = {
  ...memoryTreeLimits,
  bytes: Infinity,
  fileBytes: Infinity,
};

const limits = {
  maxBytes: memorySize()
    .default("1m")
    .describe(
      "Maximum size of all files. The files of a run that leaves more are not kept at all, so that nothing is cut: its page and the prompt of the next run report it.",
    ),
  maxFileBytes: memorySize().default("256k").describe("Maximum size of one file."),
};

const memoryName = pattern(new RegExp(`^${agentNamePattern}$`), "a-z, 0-9 and -");

const projectMemorySchema = table({
  writers: list(text(), 'a list of agents, e.g. ["curator"]')
    .default([])
    .describe("Agents whose runs may change it. The runs of all others only read it."),
  ...limits,
});

/** The project's `[memories.<name>]`. */
export const memoriesSchema = z
  .record(memoryName, projectMemorySchema, { error: "tables [memories.<name>]" })
  .default({})
  .describe(
    "A memory that several agents share. The runs of agents that name it in `[memory].shared` have it in the folder `shared/<name>/`.",
  );

export function projectMemory({
  writers,
  maxBytes,
  maxFileBytes,
}: z.output<typeof projectMemorySchema>): ProjectMemory {
  return { writers, maxBytes: sizeBytes(maxBytes), maxFileBytes: sizeBytes(maxFileBytes) };
}

const schema = table({
  ...limits,
  schema: z
    .record(memoryPath(), schemaFile(), {
      error: 'a table, e.g. { "state.json" = "schemas/state.json" }',
    })
    .default({})
    .describe(
      "JSON Schemas, as for `[expect].schema`, by the paths of the files that must match them. A run whose file does not match keeps none of its files.",
    ),
  shared: list(text(), 'a list of shared memories, e.g. ["team"]')
    .default([])
    .describe("Names of `[memories.<name>]` of the project, which runs have at `shared/<name>/`."),
  untrusted: choice(untrustedModes)
    .default("propose")
    .describe(
      'What becomes of the files of a run that a webhook started, and of the runs that it calls and that continue it, unless all authors and senders of its deliveries are `trusted`: nothing is kept ("read"), they become a proposal that a person allows or denies ("propose"), or they are kept as those of all runs are ("write").',
    ),
  trusted: list(text(), 'a list of names, e.g. ["octocat"]')
    .default([])
    .describe(
      "Authors and senders of deliveries whose runs may change the memory, by the names that the webhook filters `author` and `sender` have. Only for sources where people cannot choose the names of others.",
    ),
});

function memoryPath() {
  const error = 'the path of a file, e.g. "state.json"';
  return z.string({ error }).refine((path) => pathProblem(path, anySize) === null, { error });
}

/** An agent's `[memory]`. */
export const memoryKey = agentKey({
  inFile: "memory",
  field: schema
    .optional()
    .describe(
      "Files that are kept between runs. A run has them in the folder `memory/` of its working directory. If it succeeds, the files that are there at its end become the next version. Runs at the same time are merged file by file. A memory has at most 1,000 files and folders. That of a removed agent stays, for an agent of the same name.",
    ),
  resolve: (given, context): MemoryConfig | null => {
    if (given === undefined) return null;
    const schemas = Object.entries(given.schema).flatMap(([path, file]) => {
      const read = readSchema(file, context);
      return read === null ? [] : [[path, read] as const];
    });
    return {
      maxBytes: sizeBytes(given.maxBytes),
      maxFileBytes: sizeBytes(given.maxFileBytes),
      schema: Object.fromEntries(schemas),
      shared: Object.entries(context.project.memories)
        .filter(([name]) => given.shared.includes(name))
        .map(([name, { writers, ...sizes }]) => {
          return { name, isWriter: writers.includes(context.agent), ...sizes };
        }),
      untrusted: given.untrusted,
      trusted: given.trusted,
    };
  },
  written,
  value: z
    .object({
      maxBytes: z.int(),
      maxFileBytes: z.int(),
      schema: z.record(z.string(), z.object({ file: z.string(), text: z.string() })),
      shared: z
        .array(
          z.object({
            name: z.string(),
            isWriter: z.boolean(),
            maxBytes: z.int(),
            maxFileBytes: z.int(),
          }),
        )
        .readonly(),
      untrusted: z.enum(untrustedModes),
      trusted: z.array(z.string()).readonly(),
    })
    .nullable(),
  canonical: (memory) =>
    memory && {
      ...written(memory),
      schema: mapped(memory.schema, canonicalSchema),
    },
  change: (before, after) => {
    const text = describeKeys("memory", written(before), written(after));
    if (text !== "") return text;
    // The same files with new content, or a change of the project's config.
    const isSchema = !isEqual(before?.schema, after?.schema);
    return isSchema ? "memory.schema changed" : "shared memories changed";
  },
  facts: (memory) => factOf("Memory", memory === null ? [] : memoryTexts(memory)),
});

/** Reports schemas that can't be used, and shared memories that the project does not have. */
export function checkMemory(
  { memory }: { readonly memory?: z.output<typeof schema> | undefined },
  files: AgentFiles,
  { memories }: ProjectConfig,
  diagnostics: Diagnostics,
): readonly Diagnostic[] {
  if (memory === undefined) return [];
  const known = Object.keys(memories);
  for (const [index, name] of memory.shared.entries()) {
    if (known.includes(name)) continue;
    const found = `memory.shared names ${formatValue(name)}, which the project's config.toml does not have`;
    const fix =
      known.length === 0 ? `add [memories.${name}]` : `expected one of ${formatNames(known)}`;
    diagnostics.error(["memory", "shared", index], `${found}; ${fix}${didYouMean(name, known)}`);
  }
  return Object.entries(memory.schema).flatMap(([path, file]) =>
    checkSchemaFile(["memory", "schema", path], file, files, diagnostics),
  );
}

/** The table under the file's keys. */
function written(memory: MemoryConfig | null): object | null {
  if (memory === null) return null;
  const { maxBytes, maxFileBytes, shared, untrusted, trusted } = memory;
  return {
    maxBytes: writtenSize(maxBytes),
    maxFileBytes: writtenSize(maxFileBytes),
    schema: mapped(memory.schema, ({ file }) => file),
    shared: shared.map(({ name }) => name),
    untrusted,
    trusted,
  };
}

function memoryTexts({ maxBytes, maxFileBytes, shared, untrusted, trusted }: MemoryConfig) {
  const untrustedTexts = {
    read: "keeps no files of runs that strangers started",
    propose: "asks a person about files of runs that strangers started",
    write: "keeps files of runs that strangers started",
  };
  return [
    `at most ${writtenSize(maxBytes)}, ${writtenSize(maxFileBytes)} a file`,
    ...shared.map(({ name, isWriter }) => `shared/${name}${isWriter ? "" : ", read-only"}`),
    untrustedTexts[untrusted],
    ...(trusted.length === 0 ? [] : [`trusts ${trusted.join(", ")}`]),
  ];
}

function mapped<From, To>(record: Readonly<Record<string, From>>, map: (value: From) => To) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
