import { Readable } from "node:stream";
import type { MemoryConfig, MemoryLimits } from "../../../streams/agent-config.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { Blobs } from "../../foundation/files/blobs.ts";
import { sentenceOf } from "../../foundation/contracts/format.ts";
import type {
  TreeEntry,
  TreeFile,
  TreeLimits,
  TreeUpload,
} from "../../foundation/contracts/file-tree.ts";
import type { Job, JobTree } from "../../foundation/contracts/job.ts";
import type { TreeAnswer, TreeRun, TreeService } from "../../foundation/contracts/tree-service.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import { messageOf } from "../../foundation/errors.ts";
import type { WritesOf } from "../../foundation/scheduler/commit-events.ts";
import type { Store } from "../../foundation/store/store.ts";
import { memoryOfTree, totalBytes, type MemoryFile } from "./memory.ts";
import { createMemoryRuns, type MemoryOfRun, type Upload } from "./memory-runs.ts";
import { createMemoryStore } from "./memory-store.ts";
import { limitProblems, memoryTreeLimits } from "../../foundation/contracts/memory-limits.ts";

interface MemoryDeps {
  readonly store: Pick<Store, "tables">;
  readonly blobs: Pick<Blobs, "read" | "stage">;
  readonly redactor: Pick<Redactor, "redact" | "split">;
}

/** A memory of a run: its tree, and its limits by the config that the run started with. */
interface Memory extends MemoryOfRun {
  readonly tree: string;
  readonly limits: MemoryLimits;
}

/** The memories of runs: what they receive, what they send, and what is kept of it. */
export function createMemories({ store, blobs, redactor }: MemoryDeps) {
  const stored = store.tables(createMemoryStore);
  const runs = store.tables(createMemoryRuns);

  /** Also records what the run receives, if it has not begun. */
  const memoriesOf = async ({ instanceId, agent }: RunRequest): Promise<readonly Memory[]> => {
    const { memory } = agent;
    if (memory === null) return [];
    const named = trees(memory).map((one) => ({
      ...one,
      name: memoryOfTree(one.tree, agent.name),
    }));
    if (runs.of(instanceId).length === 0) {
      const isWritable = runs.modeOf(instanceId, memory) !== "read";
      const begun = named.map(({ name, isWriter }) => ({ name, mayWrite: isWriter && isWritable }));
      await runs.begin(instanceId, begun, memory);
    }
    const ofRun = runs.of(instanceId);
    return named.flatMap(({ tree, limits, name }) => {
      const found = ofRun.find((one) => one.name === name);
      return found === undefined ? [] : [{ ...found, tree, limits }];
    });
  };
  const find = async ({ request }: TreeRun, tree: string): Promise<Memory | undefined> =>
    (await memoriesOf(request)).find((one) => one.tree === tree);

  const service = (isOwn: boolean): TreeService => ({
    treesOf: async (request) =>
      (await memoriesOf(request))
        .filter(({ tree }) => (tree === "memory") === isOwn)
        .map((memory) => treeOf(memory, stored.files(memory.name, memory.base))),
    read: async (run, tree) => {
      const memory = await find(run, tree);
      const files = memory === undefined ? [] : stored.files(memory.name, memory.base);
      return files.length === 0 ? null : entriesOf(files, blobs);
    },
    write: async (run, tree, entries) => {
      const memory = await find(run, tree);
      if (memory === undefined) return notKept(tree, "The run has ended.");
      const keep = (sent: Upload) => runs.upload(run.instanceId, memory.name, sent);
      const sent = await received(memory, entries, { blobs, redactor }).catch(
        async (error: unknown) => {
          await keep({ files: null, problem: sentenceOf(messageOf(error)) });
          throw error;
        },
      );
      const problem = await keep(sent);
      if (problem !== null) return notKept(tree, problem);
      return { kept: sent.files?.length ?? 0, problems: [] };
    },
  });

  const onEvent: WritesOf = (event) =>
    event.type === "finished" ? () => runs.end(event) : undefined;
  return {
    trees: { memory: service(true), shared: service(false) },
    onEvent,
    /** The memories of a run as its prompt and its own checks need them; absent without any. */
    jobOf: async (request: RunRequest): Promise<Job["memory"]> => {
      const memories = await memoriesOf(request);
      const { schema = {} } = request.agent.memory ?? {};
      if (memories.length === 0) return undefined;
      return memories.map(({ tree, name, base, mayWrite, limits }) => {
        const version = stored.version(name, base);
        return {
          tree,
          isReadOnly: !mayWrite,
          ...limits,
          bytes: totalBytes(version?.files ?? []),
          conflicts: version?.conflicts ?? [],
          notKept: stored.lastNotKept(name),
          schemas:
            tree === "memory"
              ? Object.entries(schema).map(([path, text]) => ({ path, ...text }))
              : [],
        };
      });
    },
  };
}

export type Memories = ReturnType<typeof createMemories>;

/** The trees of an agent; its own first. */
function trees({ maxBytes, maxFileBytes, shared }: MemoryConfig) {
  const own = { tree: "memory", isWriter: true, limits: { maxBytes, maxFileBytes } };
  return [
    own,
    ...shared.map(({ name, isWriter, ...limits }) => ({
      tree: `shared/${name}`,
      isWriter,
      limits,
    })),
  ];
}

/** A merge may have left more than the limits allow, which a run must be able to receive, and to send back unchanged. */
function treeOf({ tree, mayWrite, limits }: Memory, files: readonly MemoryFile[]): JobTree {
  const largest = files.reduce((most, { bytes }) => Math.max(most, bytes), 0);
  const folders = new Set(files.flatMap(({ path }) => foldersOf(path)));
  const wire: TreeLimits = {
    bytes: Math.max(limits.maxBytes, totalBytes(files)),
    fileBytes: Math.max(limits.maxFileBytes, largest),
    entries: Math.max(memoryTreeLimits.entries, files.length + folders.size),
    depth: memoryTreeLimits.depth,
    nameBytes: memoryTreeLimits.nameBytes,
  };
  // The names of the files that are over a limit come with the others, so that the reason is known.
  return {
    name: tree,
    path: tree,
    get: true,
    put: mayWrite,
    limits: wire,
    keepsWhatFits: true,
    isRequired: true,
  };
}

function foldersOf(path: string): readonly string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, at) => names.slice(0, at + 1).join("/"));
}

function entriesOf(
  files: readonly MemoryFile[],
  blobs: Pick<Blobs, "read">,
): AsyncIterable<TreeEntry> {
  return Readable.from(files.map(({ hash, ...file }) => ({ ...file, content: blobs.read(hash) })));
}

/** The files that a run sends, or why they are not kept. */
async function received(
  { tree, limits }: Memory,
  entries: TreeUpload,
  { blobs, redactor }: Pick<MemoryDeps, "blobs" | "redactor">,
): Promise<Upload> {
  const files: MemoryFile[] = [];
  const sizes: TreeFile[] = [];
  for await (const { content, ...file } of entries) {
    const { hash, bytes } = await blobs.stage(content, redactor.split);
    sizes.push(file);
    files.push({ path: file.path, hash, bytes, isExecutable: file.isExecutable });
  }
  const left = entries.leftOut().map(({ path, why }) => `${tree}/${path}: ${why}.`);
  const hasSecret = files.some(({ path }) => redactor.redact(path) !== path);
  const problems = [
    ...(hasSecret ? [`The name of a file in ${tree}/ contains a credential.`] : []),
    ...limitProblems(tree, sizes, limits),
    ...left,
  ].slice(0, mostProblems);
  const text = redactor.redact(problems.join(" ")).slice(0, maxProblemCharacters);
  return { files: hasSecret ? null : files, problem: problems.length === 0 ? null : text };
}

const mostProblems = 10;
const maxProblemCharacters = 2_000;

function notKept(tree: string, reason: string): TreeAnswer {
  return { kept: 0, problems: [`${tree}/ is not kept: ${reason}`] };
}
