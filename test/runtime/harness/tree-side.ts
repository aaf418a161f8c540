import { hostGateway } from "./model-host.ts";
import { noEgress } from "../run-api/no-egress.ts";
import { openSocket, socketSide, type SocketOfRun } from "../run-api/support.ts";
import type { RunMessage } from "../../../src/runtime/wire/run-messages.ts";
import type { JobTree } from "../../../src/foundation/contracts/job.ts";
import type { TreeEntry, TreeUpload } from "../../../src/foundation/contracts/file-tree.ts";
import type { TreeAnswer } from "../../../src/foundation/contracts/tree-service.ts";
import { createFileDoor, fileDoorLimits } from "../../../src/runtime/run-api/file-door.ts";
import { createRunTrees } from "../../../src/runtime/harness/trees.ts";
import { refusal } from "../../../src/runtime/wire/protocol.ts";
import { aJob } from "./jobs.ts";

export interface StoredFile {
  readonly content: string;
  readonly isExecutable: boolean;
}
export type StoredTree = Readonly<Record<string, StoredFile>>;

export const treeLimits = { bytes: 1e6, fileBytes: 5e5, entries: 50, depth: 4, nameBytes: 60 };

export function aTree(name: string, more: Partial<JobTree> = {}): JobTree {
  return { name, path: name, get: false, put: true, limits: treeLimits, ...more };
}

/** The trees of all runs in memory, as a scheduler's services have them. */
export function memoryTrees() {
  const trees = new Map<string, StoredTree>();
  const all = {
    trees,
    limits: treeLimits,
    /** What was left out of the last upload. */
    leftOut: [] as ReturnType<TreeUpload["leftOut"]>,
    uploads: 0,
    /** Called before an entry is read. */
    onEntry: (_entry: TreeEntry): Promise<void> | void => undefined,
    onGet: (): Promise<void> | void => undefined,
    answer: { kept: 0, problems: [] } as TreeAnswer,
    get: async (_instanceId: string, name: string) => {
      await all.onGet();
      const tree = trees.get(name);
      return tree === undefined ? null : entriesOf(tree);
    },
    put: async (
      _instanceId: string,
      name: string,
      entriesWithin: (limits: typeof treeLimits) => TreeUpload,
    ) => {
      if (name === "foreign") throw refusal("malformed", "This run has no files.");
      all.uploads += 1;
      const files: Record<string, StoredFile> = {};
      const upload = entriesWithin(all.limits);
      for await (const entry of upload) {
        await all.onEntry(entry);
        const content = Buffer.concat(await Array.fromAsync(entry.content)).toString();
        files[entry.path] = { content, isExecutable: entry.isExecutable };
      }
      all.leftOut = upload.leftOut();
      trees.set(name, files);
      return all.answer;
    },
  };
  return all;
}

async function* entriesOf(tree: StoredTree): AsyncGenerator<TreeEntry> {
  for (const [path, { content, isExecutable }] of Object.entries(tree)) {
    const bytes = Buffer.from(content);
    yield { path, bytes: bytes.length, isExecutable, content: once(bytes) };
  }
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** A scheduler's file door with a run's socket, in a folder of its own. */
export async function treeSide(limits: Partial<typeof fileDoorLimits> = {}) {
  const side = await socketSide();
  const trees = memoryTrees();
  const problems: string[] = [];
  const openDoor = () =>
    createFileDoor(trees, (message) => problems.push(message), { ...fileDoorLimits, ...limits });
  let door = openDoor();
  const serve = (): void => {
    const files = { handle: (...given: Parameters<typeof door.handle>) => door.handle(...given) };
    side.sockets.serve({ runApi: side.abilities, models: hostGateway, egress: noEgress, files });
  };
  serve();
  return {
    trees,
    problems,
    run: await openSocket(side, "dev-1"),
    openRun: (instanceId: string) => openSocket(side, instanceId),
    /** The scheduler stops. */
    stop: async (): Promise<void> => {
      await door.close();
      await side.sockets.close();
    },
    /** The next scheduler starts. */
    start: async (): Promise<void> => {
      door = openDoor();
      side.sockets = side.successor();
      await side.sockets.restore(new Set(["dev-1"]));
      serve();
    },
    closeDoor: () => door.close(),
    remove: async (): Promise<void> => {
      await door.close();
      await side.remove();
    },
  };
}

export type TreeSide = Awaited<ReturnType<typeof treeSide>>;

/** The trees of a run in `workDir`, with the texts of its warnings. */
export function runTrees(workDir: string, run: SocketOfRun, ...trees: readonly JobTree[]) {
  const warnings: string[] = [];
  const emit = (message: RunMessage): void =>
    void (message.type === "log" && message.level === 40 && warnings.push(message.msg));
  const job = aJob(workDir, { trees, channel: { socket: run.socket, token: run.token } });
  return { ...createRunTrees(job, { home: workDir, emit }), warnings };
}
