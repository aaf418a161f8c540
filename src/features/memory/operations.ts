import { z } from "zod";
import { agentParams } from "../../foundation/contracts/params.ts";
import { operationsOf, type IsMine } from "../../foundation/operation.ts";
import type { MemoryReports } from "./memory-reports.ts";
import { memoryPaths } from "./memory-place.ts";
import {
  memoriesSchema,
  memoryDifferenceQuery,
  memoryDifferenceSchema,
  memorySchema,
  memoryTextQuery,
  memoryTextSchema,
  memoryVersionsQuery,
  memoryVersionsSchema,
} from "./memory-views.ts";

export interface MemoryContext {
  readonly memories: MemoryReports;
}

const { read, change } = operationsOf<MemoryContext>("Memory");

/** Where the memories of one kind are. */
export interface MemoryPlace {
  readonly params: z.ZodType<{ readonly name: string }, { readonly name: string }>;
  readonly isAbout: (input: { readonly name: string }, isMine: IsMine) => boolean;
  readonly nameOf: (name: string) => string;
  readonly whose: string;
}

/** The memory of an agent. */
export const agentMemory: MemoryPlace = {
  params: agentParams,
  isAbout: ({ name }, isMine) => isMine(name),
  nameOf: (name) => name,
  whose: "an agent's memory",
};
/** A shared memory, which belongs to no agent: a token that is limited to agents can't use it. */
export const sharedMemory: MemoryPlace = {
  params: z.object({ name: z.string().max(200).meta({ description: "A shared memory's name" }) }),
  isAbout: () => false,
  nameOf: (name) => `shared/${name}`,
  whose: "a shared memory",
};

const readsAt = <const Path extends string>(
  path: Path,
  { params, isAbout, nameOf, whose }: MemoryPlace,
) => {
  // A run that ends changes the status of its agent, and then its memory.
  const shared = { params, isAbout, problems: [404, 503], changedBy: ["agents"] } as const;
  return [
    read(path, {
      ...shared,
      summary: `The files of ${whose}, its limits, and why the last tree was not kept`,
      output: memorySchema,
      perform: ({ name }, { memories }) => memories.show(nameOf(name)),
    }),
    read(`${path}/versions`, {
      ...shared,
      summary: `The versions of ${whose}, the latest first`,
      input: memoryVersionsQuery,
      output: memoryVersionsSchema,
      perform: ({ name, ...page }, { memories }) => memories.versions(nameOf(name), page),
    }),
    read(`${path}/diff`, {
      ...shared,
      summary: `The difference between two versions of ${whose}`,
      input: memoryDifferenceQuery,
      output: memoryDifferenceSchema,
      perform: ({ name, ...sides }, { memories }) => memories.difference(nameOf(name), sides),
    }),
    read(`${path}/text`, {
      ...shared,
      summary: `A file of ${whose} as text`,
      input: memoryTextQuery,
      output: memoryTextSchema,
      perform: async ({ name, path: file, version }, { memories }) => {
        const { bytes, ...found } = await memories.file(nameOf(name), file, version);
        return { path: file, version: found.version, bytes, text: await found.text() };
      },
    }),
  ] as const;
};

const restoreAt = <const Path extends string>(
  path: Path,
  { params, isAbout, nameOf, whose }: MemoryPlace,
) =>
  change(`${path}/restore`, {
    params,
    isAbout,
    summary: `Restore an earlier version of ${whose}`,
    description:
      "Makes a new version with the files of the named one; 0 empties the memory. Running runs keep the files that they " +
      "have, and what they change is merged.",
    input: z.strictObject({ version: z.int().min(0) }),
    output: z.object({ success: z.literal(true), name: z.string(), version: z.int() }),
    scope: "control",
    problems: [404, 503],
    audit: ({ name, version }) => ({
      act: "restore",
      agent: nameOf(name) === name ? name : null,
      detail: `memory ${nameOf(name)} to version ${version}`,
    }),
    perform: async ({ name, version }, { memories }, { by }) => {
      const restored = await memories.restore(nameOf(name), version, by);
      return { success: true as const, name: restored.name, version: restored.n };
    },
  });

/** Also answered without a scheduler. */
export const memoryReads = [
  read("/api/memories", {
    summary: "All memories: those of agents, and shared ones",
    output: memoriesSchema,
    problems: [503],
    isAbout: () => false,
    perform: (_input, { memories }) => memories.all(),
  }),
  ...readsAt(memoryPaths.agent, agentMemory),
  ...readsAt(memoryPaths.shared, sharedMemory),
] as const;

export const memoryOperations = [
  ...memoryReads,
  restoreAt(memoryPaths.agent, agentMemory),
  restoreAt(memoryPaths.shared, sharedMemory),
] as const;
