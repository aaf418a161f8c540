import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Job, JobMemory } from "../../foundation/contracts/job.ts";
import { limitProblems, memoryTreeLimits } from "../../foundation/contracts/memory-limits.ts";
import { ifMissing, messageOf } from "../../foundation/errors.ts";
import { cut } from "./message-writer.ts";
import type { RunApiClient } from "./run-api/client.ts";
import { listFiles } from "./trees/list-files.ts";

/** The sizes count against the memory's own limits, so that all that is over is named. */
const anySize = { ...memoryTreeLimits, bytes: Infinity, fileBytes: Infinity };

/** The state of one memory of a run. */
export interface MemoryState {
  /** Name of the tree and of its folder below the working directory. */
  readonly tree: string;
  readonly bytes: number;
  readonly maxBytes: number;
  /** Why its files would not be kept, in sentences; empty if they would. */
  readonly problems: readonly string[];
}

/** Checks the memories that a run may change against their limits and schemas. */
export function createRunMemory({ memory = [], workDir }: Pick<Job, "memory" | "workDir">) {
  const writable = memory.filter(({ isReadOnly }) => !isReadOnly);
  const checkSchema = createSchemaCheck(workDir);

  const stateOf = async (one: JobMemory): Promise<MemoryState> => {
    const { tree, maxBytes, maxFileBytes } = one;
    const listed = await listFiles(join(workDir, tree), anySize, true).catch(ifMissing(null));
    const { files = [], leftOut = [] } = listed ?? {};
    const schemas = one.schemas.filter(({ path }) =>
      files.some((file) => file.path === path && file.bytes <= maxFileBytes),
    );
    const mismatches = await Promise.all(schemas.map((schema) => checkSchema(tree, schema)));
    return {
      tree,
      bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
      maxBytes,
      problems: [
        ...limitProblems(tree, files, one),
        ...leftOut.map(({ path, why }) => `${tree}/${path} ${why}.`),
        ...mismatches.filter((mismatch) => mismatch !== null),
      ].slice(0, mostProblems),
    };
  };
  const states = () => Promise.all(writable.map(stateOf));
  let last = "";
  return {
    /** The answer to a check by the agent. */
    answer: async () => {
      const memories = await states();
      return {
        ok: true,
        isWithin: memories.every(({ problems }) => problems.length === 0),
        memories,
      };
    },
    /** Tells the scheduler, before the files are sent, why those of a memory must not be kept. */
    report: async (client: RunApiClient, signal: AbortSignal): Promise<void> => {
      for (const { tree, problems } of await states()) {
        if (problems.length === 0) continue;
        await client.ask(
          "memory-problem",
          { tree, problem: cut(problems.join(" "), maxProblemCharacters) },
          signal,
        );
      }
    },
    /** The problems of all memories, for the model, if they differ from those of the last call; null otherwise. */
    news: async (): Promise<string | null> => {
      const found = await states();
      const text = found.flatMap(({ problems }) => problems).join(" ");
      if (text === last) return null;
      last = text;
      return text === "" ? withinText : `${text} ${notKeptText}`;
    },
  };
}

/** The reason is shown to people, and to the model of the next run. */
const maxProblemCharacters = 2_000;

export type RunMemory = ReturnType<typeof createRunMemory>;

const mostProblems = 10;
const notKeptText =
  "As it is now, nothing of this folder would be kept: change that before the run ends.";
const withinText = "The memory is within its limits again.";

type Schema = JobMemory["schemas"][number];

/** Compiling a schema takes milliseconds, so a file that has not changed is not checked again. */
function createSchemaCheck(workDir: string) {
  const checked = new Map<string, { readonly text: string; readonly problem: string | null }>();
  return async (tree: string, { path, ...schema }: Schema): Promise<string | null> => {
    const text = await readFile(join(workDir, tree, path), "utf8");
    const known = checked.get(path);
    if (known?.text === text) return known.problem;
    const problem = await mismatchOf(`${tree}/${path}`, schema, text);
    checked.set(path, { text, problem });
    return problem;
  };
}

async function mismatchOf(
  path: string,
  schema: Omit<Schema, "path">,
  text: string,
): Promise<string | null> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `${path} is not JSON: ${messageOf(error)}.`;
  }
  const { schemaMismatch } = await import("../../foundation/config/value-schema.ts");
  const mismatch = schemaMismatch(schema, value, path);
  return mismatch === null ? null : `${mismatch}.`;
}
