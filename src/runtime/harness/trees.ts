import { join } from "node:path";
import { counted } from "../../foundation/contracts/format.ts";
import type { LeftOutFile } from "../../foundation/contracts/file-tree.ts";
import type { Job, JobTree } from "../../foundation/contracts/job.ts";
import { ifMissing, messageOf } from "../../foundation/errors.ts";
import { logTo, type Emit } from "./harness.ts";
import { listFiles, type ListedFiles } from "./trees/list-files.ts";
import { ChangedFile } from "./trees/read-files.ts";
import { receiveFiles, sendFiles, type TransferContext } from "./trees/transfer.ts";
import type { TreeFolder } from "./trees/write-files.ts";

/** How many files that change while they are read are left out; then the tree is not sent. */
const maxChanged = 10;
const noFiles: ListedFiles = { files: [], leftOut: [], leftOutCount: 0, over: null };
/** How many files that are left out a warning names. */
const maxNamed = 10;

export interface RunTreesContext {
  /** The run's home directory, absolute. */
  readonly home: string;
  readonly emit: Emit;
}

/**
 * The folders of a run whose files come from the scheduler, or are sent to it. A folder that could not be received is not
 * sent either: its files would replace those that the run did not get.
 */
export function createRunTrees(
  { trees = [], channel, workDir }: Job,
  { home, emit }: RunTreesContext,
) {
  if (channel === null) throw new Error("this run has no socket to send files to");
  const runSocket = channel;
  const warn = (msg: string): void => logTo(emit, "run", 40, msg);
  /** How many files a folder was received with; null if it was not received. */
  const received = new Map<JobTree, number | null>();

  const unpackOne = async (tree: JobTree, signal: AbortSignal): Promise<void> => {
    const folder = folderOf(tree, workDir, home);
    try {
      const transfer = { runSocket, signal };
      received.set(tree, await receiveFiles(transfer, tree.name, folder, tree.limits));
    } catch (error) {
      received.set(tree, null);
      const problem = `${tree.path}: its files could not be received: ${messageOf(error)}`;
      if (tree.isRequired === true) throw new Error(problem, { cause: error });
      warn(tree.put ? `${problem}. It is not kept at the end of this run either.` : problem);
    }
  };
  const packOne = async (tree: JobTree, context: TransferContext): Promise<void> => {
    const before = received.get(tree);
    if (before === null) return;
    const { path: root } = folderOf(tree, workDir, home);
    const { keepsWhatFits = false, limits, name } = tree;
    const listed = await listFiles(root, limits, keepsWhatFits).catch(ifMissing(null));
    const { files, leftOut, leftOutCount, over } = listed ?? noFiles;
    if (over !== null) return warn(`${tree.path} is not kept: ${over}.`);
    if (files.length + leftOutCount + (before ?? 0) === 0) return;
    if (leftOutCount > 0) warn(`${tree.path}: ${leftOutText(leftOut, leftOutCount)}`);
    const sent = { root, files, leftOut, more: leftOutCount - leftOut.length };
    const { problems } = await sendUnchanged(context, name, sent, (path) =>
      warn(`${tree.path}: ${path} changed while it was read, and is not kept.`),
    );
    problems.forEach(warn);
  };

  return {
    /** Unpacks the trees with `get`. Rejects only for a required one. */
    unpack: async (signal: AbortSignal): Promise<void> => {
      for (const tree of trees) if (tree.get) await unpackOne(tree, signal);
    },
    /** Sends the trees with `put`, and logs a warning for each that is not kept. Never rejects. */
    pack: async (signal: AbortSignal): Promise<void> => {
      for (const tree of trees) {
        if (!tree.put) continue;
        await packOne(tree, { runSocket, signal }).catch((error: unknown) =>
          warn(`${tree.path} is not kept: ${messageOf(error)}`),
        );
      }
    },
  };
}

export type RunTrees = ReturnType<typeof createRunTrees>;

/** Sends again, without the file that changed, a few times. */
async function sendUnchanged(
  context: TransferContext,
  name: string,
  sent: Parameters<typeof sendFiles>[2],
  onChanged: (path: string) => void,
) {
  let { files, leftOut } = sent;
  for (let changed = 0; ; changed += 1) {
    try {
      return await sendFiles(context, name, { ...sent, files, leftOut });
    } catch (error) {
      if (!(error instanceof ChangedFile) || changed === maxChanged) throw error;
      const { path } = error;
      onChanged(path);
      files = files.filter((file) => file.path !== path);
      leftOut = [...leftOut, { path, why: "changed while it was read" }];
    }
  }
}

function folderOf({ path }: JobTree, workDir: string, home: string): TreeFolder {
  if (!path.startsWith("~/")) return { base: workDir, path: join(workDir, path) };
  return { base: home, path: join(home, path.slice(2)) };
}

function leftOutText(leftOut: readonly LeftOutFile[], count: number): string {
  const named = leftOut.slice(0, maxNamed).map(({ path, why }) => `${path} ${why}`);
  const more = count > named.length ? ` and ${count - named.length} more` : "";
  return `${counted(count, "file")} left out: ${named.join("; ")}${more}`;
}
