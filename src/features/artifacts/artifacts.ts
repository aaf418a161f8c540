import { Readable } from "node:stream";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { Clock } from "../../../streams/clock.ts";
import { artifactShape, maxLeftOut, outFolder } from "../../foundation/contracts/file-tree.ts";
import type {
  LeftOutFile,
  TreeEntry,
  TreeLimits,
  TreeUpload,
} from "../../foundation/contracts/file-tree.ts";
import type { TreeService } from "../../foundation/contracts/tree-service.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import { Problem } from "../../foundation/errors.ts";
import type { Blobs } from "../../foundation/files/blobs.ts";
import type { Artifact, ArtifactStore, LeftOut } from "./artifact-store.ts";
import { fileKind, magicBytes } from "./file-kind.ts";

interface ArtifactsDeps {
  readonly store: ArtifactStore;
  readonly blobs: Blobs;
  readonly redactor: Pick<Redactor, "split" | "redact">;
  /** Maximum size of the artifacts of all runs. */
  readonly mostBytes: () => number;
  readonly clock: Pick<Clock, "now">;
}

/** Keeps what runs leave in `out/`, and gives it to their callers. */
export function createArtifacts({ store, blobs, redactor, mostBytes, clock }: ArtifactsDeps) {
  const limitsOf = ({ artifactsBytes }: AgentConfig): TreeLimits => {
    const bytes = Math.min(artifactsBytes, mostBytes());
    return { ...artifactShape, bytes, fileBytes: bytes };
  };
  const keep = async (entry: TreeEntry): Promise<Artifact> => {
    const start = { bytes: Buffer.alloc(0) };
    const { hash, bytes, isText } = await blobs.stage(
      withStart(entry.content, start),
      redactor.split,
    );
    const { path, isExecutable } = entry;
    return { path, hash, bytes, kind: fileKind(isText, start.bytes), isExecutable };
  };
  const out: TreeService = {
    treesOf: ({ agent }) => {
      const limits = limitsOf(agent);
      if (limits.bytes === 0) return [];
      const tree = { name: outFolder, path: outFolder, get: false, put: true } as const;
      return [{ ...tree, limits, keepsWhatFits: true }];
    },
    write: async ({ instanceId }, _name, upload) => {
      const files: Artifact[] = [];
      const secret: LeftOutFile[] = [];
      for await (const entry of upload) {
        const { path, bytes } = entry;
        // A name identifies the file, so it can't be redacted.
        if (redactor.redact(path) === path) files.push(await keep(entry));
        else secret.push({ path, bytes, why: "has a credential in its name" });
      }
      const leftOut = leftOutOf(upload, secret, redactor);
      await store.keep(instanceId, clock.now(), { files, leftOut }, mostBytes());
      // The run has logged what it left out.
      return { kept: files.length, problems: [] };
    },
  };
  const call: TreeService = {
    treesOf: () => [],
    mayGet: () => true,
    read: ({ instanceId }, name) => {
      const { files } = calledFiles(store, name.slice("call/".length), instanceId);
      return Promise.resolve(files.length === 0 ? null : entriesOf(files, blobs));
    },
  };
  return { trees: { out, call } };
}

/** The files of a call of the run `caller`. Throws Problem `unknown_call`, also for a call of another run. */
export function calledFiles(store: ArtifactStore, callId: string, caller: string) {
  const called = store.calledRun(callId, caller);
  if (called !== null) return { isOver: called.isOver, ...store.of(called.instanceId) };
  throw new Problem("unknown_call", `This run made no call ${callId} that started a run.`);
}

function entriesOf(files: readonly Artifact[], blobs: Blobs): AsyncIterable<TreeEntry> {
  return Readable.from(
    files.map(({ path, bytes, isExecutable, hash }): TreeEntry => {
      return { path, bytes, isExecutable, content: blobs.read(hash) };
    }),
  );
}

/** The same content; its first bytes are put into `start` as they pass. */
async function* withStart(content: AsyncIterable<Buffer>, start: { bytes: Buffer }) {
  for await (const part of content) {
    const missing = magicBytes - start.bytes.length;
    if (missing > 0) start.bytes = Buffer.concat([start.bytes, part.subarray(0, missing)]);
    yield part;
  }
}

/** The most characters of a reason, which is the run's own text. */
const maxReason = 300;

function leftOutOf(
  upload: TreeUpload,
  secret: readonly LeftOutFile[],
  { redact }: Pick<Redactor, "redact">,
): LeftOut {
  const all = [...secret, ...upload.leftOut()];
  const files = all.slice(0, maxLeftOut).map(({ path, why, bytes = null }) => {
    return { path: redact(path), bytes, why: redact(why).slice(0, maxReason) };
  });
  return { files, more: all.length - files.length + (upload.more?.() ?? 0) };
}
