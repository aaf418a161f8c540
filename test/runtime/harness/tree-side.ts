import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { hostGateway } from "./model-host.ts";
import { noEgress } from "../run-api/no-egress.ts";
import { never, openSocket, socketSide, type SocketOfRun } from "../run-api/support.ts";
import type { RunMessage } from "../../../src/runtime/wire/run-messages.ts";
import type { JobTree } from "../../../src/foundation/contracts/job.ts";
import type { TreeEntry, TreeUpload } from "../../../src/foundation/contracts/file-tree.ts";
import type { TreeAnswer } from "../../../src/foundation/contracts/tree-service.ts";
import { createFileDoor, fileDoorLimits } from "../../../src/runtime/run-api/file-door.ts";
import { createRunTrees } from "../../../src/runtime/harness/trees.ts";
import { refusal } from "../../../src/runtime/wire/protocol.ts";
import { aJob } from "./jobs.ts";
import { perTest } from "../../helpers/per-test.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

interface StoredFile {
  readonly content: string;
  readonly isExecutable: boolean;
}
type StoredTree = Readonly<Record<string, StoredFile>>;

export const treeLimits = { bytes: 1e6, fileBytes: 5e5, entries: 50, depth: 4, nameBytes: 60 };

export function aTree(name: string, more: Partial<JobTree> = {}): JobTree {
  return { name, path: name, get: false, put: true, limits: treeLimits, ...more };
}

/** The trees of all runs in memory, as a scheduler's services have them. */
function memoryTrees() {
  const trees = new Map<string, StoredTree>();
  const all = {
    trees,
    limits: treeLimits,
    /** Files that the last upload left out. */
    leftOut: [] as ReturnType<TreeUpload["leftOut"]>,
    more: 0,
    uploads: 0,
    /** Called before an entry is read. */
    onEntry: ((): void => undefined) as (entry: TreeEntry) => Promise<void> | void,
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
        const content = await text(entry.content);
        files[entry.path] = { content, isExecutable: entry.isExecutable };
      }
      all.leftOut = upload.leftOut();
      all.more = upload.more?.() ?? 0;
      trees.set(name, files);
      return all.answer;
    },
  };
  return all;
}

function entriesOf(tree: StoredTree): TreeEntry[] {
  return Object.entries(tree).map(([path, { content, isExecutable }]) => {
    const bytes = Buffer.from(content);
    return { path, bytes: bytes.length, isExecutable, content: Readable.from([bytes]) };
  });
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
    openRun: (instanceId: string, baseDir?: string) => openSocket(side, instanceId, baseDir),
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

/** The trees of a run in `workDir`, with the texts of its warnings. */
function runTrees(workDir: string, run: SocketOfRun, ...trees: readonly JobTree[]) {
  const warnings: string[] = [];
  const emit = (message: RunMessage): void =>
    void (message.type === "log" && message.level === 40 && warnings.push(message.msg));
  const job = aJob(workDir, { trees, channel: { socket: run.socket, token: run.token } });
  return { ...createRunTrees(job, { home: workDir, emit }), warnings };
}

/** A run's folder and its scheduler, made anew for each test. */
export function treeTest() {
  const side = perTest(treeSide, (each) => each.remove());
  const workDir = perTest(() => tempDir());
  const inRun = (...names: readonly string[]) => join(workDir(), ...names);
  const treesOf = (...trees: readonly JobTree[]) => runTrees(workDir(), side().run, ...trees);
  return {
    side,
    workDir,
    inRun,
    treesOf,
    write: async (path: string, content: string, mode = 0o600): Promise<void> => {
      await mkdir(dirname(inRun(path)), { recursive: true });
      await writeFile(inRun(path), content);
      await chmod(inRun(path), mode);
    },
    /** Sends the tree, `out` by default, at the run's end; resolves to the run's warnings. */
    pack: async (tree = aTree("out"), signal = never): Promise<readonly string[]> => {
      const trees = treesOf(tree);
      await trees.pack(signal);
      return trees.warnings;
    },
    stored: () => side().trees.trees.get("out"),
  };
}

export const aFile = (content: string, isExecutable = false): StoredFile => ({
  content,
  isExecutable,
});
