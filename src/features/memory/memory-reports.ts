import { isoTime, isoTimes } from "../../../streams/iso-times.ts";
import { Problem } from "../../foundation/errors.ts";
import { changesOf, memoryDifference, readText, type ReadBlobs } from "./memory-difference.ts";
import { totalBytes, unknownVersion } from "./memory.ts";
import type { MemoryFile, MemoryProposal, MemoryVersion } from "./memory.ts";
import type { MemoryStore } from "./memory-store.ts";
import type {
  fileChangesSchema,
  memoryDifferenceQuery,
  memoryVersionsQuery,
  MemoryVersionView,
  MemoryView,
  runMemorySchema,
} from "./memory-views.ts";
import type { z } from "zod";

export interface MemoryReportDeps {
  readonly store: MemoryStore;
  readonly blobs: ReadBlobs;
  /** The options of a memory; null if the config does not have it. */
  readonly optionsOf: (name: string) => MemoryOptions | null | Promise<MemoryOptions | null>;
}

export interface MemoryOptions extends NonNullable<MemoryView["limits"]> {
  /** The shared memories that the agent's runs get. */
  readonly shared: readonly string[];
}

/** The memories of a project as people and programs see them. */
export function createMemoryReports({ store, blobs, optionsOf }: MemoryReportDeps) {
  /** Rejects with Problem `unknown_memory`. */
  const known = async (name: string) => {
    const [options, head] = [await optionsOf(name), store.head(name)];
    if (options !== null || head !== null || store.proposals(name).length > 0) {
      return { options, head };
    }
    const hint = "Add [memory] to the agent's config.toml, or [memories.<name>] to the project's.";
    throw new Problem("unknown_memory", `there is no memory "${name}"`, hint);
  };
  /** Throws Problem `unknown_version`. */
  const filesOf = (name: string, n: number): readonly MemoryFile[] => {
    const version = store.version(name, n);
    if (version === null && n > 0) throw unknownVersion(name, n);
    return version?.files ?? [];
  };
  return {
    all: () => ({
      memories: store.all().map(({ n, ...one }) => ({ ...isoTimes(one, "at"), version: n })),
    }),
    show: async (name: string): Promise<MemoryView> => {
      const { options, head } = await known(name);
      const files = head?.files ?? [];
      const notKept = store.lastNotKept(name);
      return {
        name,
        version: head?.n ?? 0,
        files: files.map(({ path, bytes, isExecutable }) => ({ path, bytes, isExecutable })),
        bytes: totalBytes(files),
        limits: options && { maxBytes: options.maxBytes, maxFileBytes: options.maxFileBytes },
        shared: options?.shared ?? [],
        conflicts: head?.conflicts ?? [],
        proposals: store.proposals(name).length,
        notKept: notKept && isoTimes(notKept, "at"),
      };
    },
    versions: async (name: string, { before, limit }: z.output<typeof memoryVersionsQuery>) => {
      await known(name);
      const found = store.versions(name, { ...(before && { before }), limit: limit + 1 });
      const versions = found.slice(0, limit).map((one): MemoryVersionView => {
        const { n, at, instanceId, by, files, conflicts } = one;
        const counts = {
          files: files.length,
          bytes: totalBytes(files),
          changes: changesIn(one, store),
        };
        return { n, at: isoTime(at), instanceId, by, conflicts, ...counts };
      });
      return { versions, next: found.length > limit ? (versions.at(-1)?.n ?? null) : null };
    },
    difference: async (name: string, asked: z.output<typeof memoryDifferenceQuery>) => {
      const { head } = await known(name);
      const to = asked.to ?? head?.n ?? 0;
      const from = asked.from ?? Math.max(0, to - 1);
      const after = { label: `version-${to}`, files: filesOf(name, to) };
      const before = { label: `version-${from}`, files: filesOf(name, from) };
      const text = await memoryDifference(before, after, blobs);
      return { name, from, to, changes: changesView(before.files, after.files), text };
    },
    /** A file of a version, by default the latest. Rejects with Problem `not_found`. */
    file: async (name: string, path: string, n?: number) => {
      const { head } = await known(name);
      const version = n ?? head?.n ?? 0;
      const file = filesOf(name, version).find((one) => one.path === path);
      if (file === undefined) throw new Problem("not_found", `version ${version} has no ${path}`);
      const { bytes, hash } = file;
      return {
        path,
        version,
        bytes,
        content: () => blobs.read(hash),
        text: () => readText(file, blobs),
      };
    },
    restore: store.restore,
    /** The changes of a proposal to the version that its run got. */
    proposed: ({ name, base, files }: MemoryProposal) =>
      changesView(store.files(name, base), files),
    proposedDifference: ({ name, base, files }: MemoryProposal, most?: number) => {
      const from = { label: `version-${base}`, files: store.files(name, base) };
      return memoryDifference(from, { label: "proposed", files }, blobs, most);
    },
  };
}

export type MemoryReports = ReturnType<typeof createMemoryReports>;

/** The versions and proposals of a run, and the memories that were not kept. */
export function runMemory(
  instanceId: string,
  store: Pick<MemoryStore, "ofRun" | "files">,
): z.infer<typeof runMemorySchema> {
  const { versions, proposals, notKept } = store.ofRun(instanceId);
  return {
    versions: versions.map((one) => ({
      name: one.name,
      n: one.n,
      changes: changesIn(one, store),
    })),
    proposals: proposals.map(({ id, name, state }) => ({ id, name, state })),
    notKept: notKept.map(({ name, reason }) => ({ name, reason })),
  };
}

const shownChanges = 20;

/** Changes from the version before. */
const changesIn = ({ name, n, files }: MemoryVersion, store: Pick<MemoryStore, "files">) =>
  changesView(store.files(name, n - 1), files);

function changesView(
  before: readonly MemoryFile[],
  after: readonly MemoryFile[],
): z.infer<typeof fileChangesSchema> {
  const changed = changesOf(before, after);
  const files = changed.slice(0, shownChanges).map(({ path, change }) => ({ path, change }));
  return { count: changed.length, files };
}
