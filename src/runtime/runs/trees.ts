import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { TreeEntries, TreeLimits, TreeUpload } from "../../foundation/contracts/file-tree.ts";
import type { JobTree } from "../../foundation/contracts/job.ts";
import type { TreeAnswer, TreeRun, TreeService } from "../../foundation/contracts/tree-service.ts";
import { refusal } from "../wire/protocol.ts";
import type { FindRun } from "./live-runs.ts";

/** The kinds of trees: the first part of their names, such as `memory`, `shared/<name>` and `call/<callId>`. */
export type TreeKind = "out" | "memory" | "shared" | "session" | "workspace" | "cache" | "call";
export type TreeServices = Readonly<Partial<Record<TreeKind, TreeService>>>;

/** The trees of live runs. A run sends and receives its own trees only. */
export function createTrees(services: TreeServices, runs: FindRun) {
  const all = new Map<string, TreeService>(Object.entries(services));
  const find = async (instanceId: string, name: string) => {
    const live = runs.find(instanceId);
    const service = all.get(name.split("/", 1)[0] ?? "");
    if (live === undefined || service === undefined) throw notNamed(name);
    const run: TreeRun = { instanceId, request: live.request };
    const named = await service.treesOf(run.request);
    return { run, service, tree: named.find((tree) => tree.name === name) };
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
      const { run, service, tree } = await find(instanceId, name);
      if (tree?.put !== true || service.write === undefined) throw notNamed(name);
      return service.write(run, name, entriesWithin(tree.limits));
    },
  };
}

export type Trees = ReturnType<typeof createTrees>;

function notNamed(name: string) {
  return refusal("malformed", `This run has no files ${JSON.stringify(name.slice(0, 100))}.`);
}
