import type { RunRequest } from "../../../streams/vocabulary.ts";
import type {
  TreeEntries,
  TreeEntry,
  TreeLimits,
  TreeUpload,
} from "../../foundation/contracts/file-tree.ts";
import type { JobTree } from "../../foundation/contracts/job.ts";
import type { TreeAnswer, TreeRun, TreeService } from "../../foundation/contracts/tree-service.ts";
import { refusal } from "../wire/protocol.ts";
import type { LiveRun } from "./live-run.ts";

/** The kinds of trees: the first part of their names, such as `memory`, `shared/<name>` and `call/<callId>`. */
export type TreeKind = "out" | "memory" | "shared" | "session" | "workspace" | "cache" | "call";
export type TreeServices = Readonly<Partial<Record<TreeKind, TreeService>>>;

interface FindTreeRun {
  readonly find: (instanceId: string) => Pick<LiveRun, "request" | "sentBytes"> | undefined;
}

/** How often a run may send all that a tree can have: a transfer that broke off begins again. */
const maxSent = 6;
/** The least space that a file takes on a disk. */
const blockBytes = 4096;

/** The trees of live runs. A run sends and receives its own trees only. */
export function createTrees(services: TreeServices, runs: FindTreeRun) {
  const all = new Map<string, TreeService>(Object.entries(services));
  const find = async (instanceId: string, name: string) => {
    const live = runs.find(instanceId);
    const service = all.get(name.split("/", 1)[0] ?? "");
    if (live === undefined || service === undefined) throw notNamed(name);
    const run: TreeRun = { instanceId, request: live.request };
    const named = await service.treesOf(run.request);
    const tree = named.find((each) => each.name === name);
    return { run, service, tree, sentBytes: live.sentBytes };
  };
  return {
    /** The trees that the job of a run names. */
    of: async (request: RunRequest): Promise<readonly JobTree[]> => {
      const trees: JobTree[] = [];
      for (const service of all.values()) trees.push(...(await service.treesOf(request)));
      return trees;
    },
    /** The entries that a run receives; null for an empty tree. Rejects with a Problem. */
    get: async (instanceId: string, name: string): Promise<TreeEntries | null> => {
      const { run, service, tree } = await find(instanceId, name);
      const isNamed = tree?.get === true || service.mayGet?.(run, name) === true;
      if (!isNamed || service.read === undefined) throw notNamed(name);
      return service.read(run, name);
    },
    /** Stores what a run sends; `entriesWithin` reads it. Rejects with a Problem. */
    put: async (
      instanceId: string,
      name: string,
      entriesWithin: (limits: TreeLimits) => TreeUpload,
    ): Promise<TreeAnswer> => {
      const { run, service, tree, sentBytes } = await find(instanceId, name);
      if (tree?.put !== true || service.write === undefined) throw notNamed(name);
      const { limits } = tree;
      const count = (bytes: number): void => {
        const sent = (sentBytes.get(name) ?? 0) + Math.max(bytes, blockBytes);
        sentBytes.set(name, sent);
        if (sent > maxSent * (limits.bytes + limits.entries * blockBytes)) throw sentTooOften(name);
      };
      return service.write(run, name, counted(entriesWithin(limits), count));
    },
  };
}

export type Trees = ReturnType<typeof createTrees>;

/** Counts each file before it is read: contents stay on disk for a while, even those of a tree that was cut. */
function counted(upload: TreeUpload, count: (bytes: number) => void): TreeUpload {
  const read = async function* (): AsyncGenerator<TreeEntry> {
    for await (const entry of upload) {
      count(entry.bytes);
      yield entry;
    }
  };
  return { leftOut: upload.leftOut, [Symbol.asyncIterator]: read };
}

function sentTooOften(name: string) {
  return refusal(
    "too_many_requests",
    `This run has sent its files ${JSON.stringify(name)} too often.`,
  );
}

function notNamed(name: string) {
  return refusal("malformed", `This run has no files ${JSON.stringify(name.slice(0, 100))}.`);
}
