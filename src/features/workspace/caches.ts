import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { readdirSync, renameSync, rmSync } from "node:fs";
import { mkdir, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { RunEvent, RunRequest } from "../../../streams/vocabulary.ts";
import type { TreeEntry, TreeLimits, TreeUpload } from "../../foundation/contracts/file-tree.ts";
import type { JobTree } from "../../foundation/contracts/job.ts";
import type { TreeService } from "../../foundation/contracts/tree-service.ts";
import { ifMissing, messageOf } from "../../foundation/errors.ts";

export interface CacheDeps {
  readonly projectDir: string;
  /** Whether the run must not change what later runs read. */
  readonly isUntrusted: (request: RunRequest) => boolean;
  /** The wire form of trees, which is also that of stored caches. */
  readonly packFrames: (entries: AsyncIterable<TreeEntry>) => AsyncIterable<Buffer>;
  readonly readFrames: (stream: AsyncIterable<Buffer>, limits: TreeLimits) => TreeUpload;
  readonly warn: (message: string) => void;
}

const shape = { entries: 200_000, depth: 40, nameBytes: 255 };

/**
 * Folders of an agent's runs whose files its next run receives: a file each, `.al/caches/<agent>/<hash of the path>`. The
 * files of a live run are below `.al/caches/<agent>/sent/<run>` until it has succeeded.
 */
export function createCaches(deps: CacheDeps) {
  const root = join(deps.projectDir, ".al", "caches");
  const treesOf = (request: RunRequest): readonly JobTree[] => {
    const { cache = [], maxBytes = 0 } = request.agent.workspace ?? {};
    if (cache.length === 0) return [];
    const limits = { bytes: maxBytes, fileBytes: maxBytes, ...shape };
    const put = !deps.isUntrusted(request);
    return cache.map((path, n) => ({ name: `cache/${n}`, path, get: true, put, limits }));
  };
  const sentBy = (agent: string, instanceId: string) => join(root, agent, "sent", instanceId);

  const trees: TreeService = {
    treesOf,
    read: async ({ request }, name) => {
      const tree = treesOf(request).find((each) => each.name === name);
      const file = join(root, request.agent.name, keyOf(tree));
      if (tree === undefined || !existsSync(file)) return null;
      await utimes(file, new Date(), new Date());
      const bytes = createReadStream(file, { highWaterMark: 1024 ** 2 });
      return orRemove(file, deps.readFrames(bytes, tree.limits));
    },
    write: async ({ instanceId, request }, name, entries) => {
      const key = keyOf(treesOf(request).find((each) => each.name === name));
      const folder = sentBy(request.agent.name, instanceId);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      let kept = 0;
      const counted = async function* () {
        for await (const entry of entries) {
          kept += 1;
          yield entry;
        }
      };
      const draft = join(folder, `.${key}`);
      const frames = Readable.from(deps.packFrames(counted()), { objectMode: false });
      await pipeline(frames, createWriteStream(draft, { mode: 0o600, flush: true }));
      renameSync(draft, join(folder, key));
      return { kept, problems: [] };
    },
  };
  return {
    trees,
    /** Each cache of a run that succeeded replaces the earlier one whole; what other runs sent is dropped. */
    onEvent: (event: RunEvent): undefined => {
      if (event.type !== "finished") return;
      const { item, instanceId, end } = event;
      const folder = sentBy(item.agent, instanceId);
      if (!existsSync(folder)) return;
      try {
        const whole = readdirSync(folder).filter((name) => !name.startsWith("."));
        for (const key of end.outcome === "succeeded" ? whole : [])
          renameSync(join(folder, key), join(root, item.agent, key));
        rmSync(folder, { recursive: true, force: true });
      } catch (error) {
        deps.warn(`a cache of ${item.agent} is not kept: ${messageOf(error)}`);
      }
    },
    /** Removes caches that no run received since `before`, epoch ms. */
    removeUnused: async (before: number): Promise<void> => {
      for (const name of await readdir(root, { recursive: true }).catch(ifMissing([]))) {
        const file = join(root, name);
        const found = await stat(file).catch(ifMissing(null));
        if (found?.isFile() === true && found.mtimeMs < before) await rm(file, { force: true });
      }
    },
  };
}

/** The order of the config does not matter. */
function keyOf(tree: JobTree | undefined): string {
  return createHash("sha256")
    .update(tree?.path ?? "")
    .digest("hex")
    .slice(0, 32);
}

/** A damaged cache is removed: a run that could not read it would not replace it. */
async function* orRemove(file: string, entries: AsyncIterable<TreeEntry>) {
  try {
    yield* entries;
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}
