import { createHash } from "node:crypto";
import type {
  Artifact,
  LeftOut,
  RunArtifacts,
} from "../../src/features/artifacts/artifact-store.ts";
import type { ArtifactContext } from "../../src/features/artifacts/operations.ts";
import { fileKind } from "../../src/features/artifacts/file-kind.ts";

type Given = Partial<Omit<RunArtifacts, "files">> & { readonly leftOut?: LeftOut };

/** Files of runs in memory. */
export function fakeArtifacts() {
  const runs = new Map<string, RunArtifacts>();
  const contents = new Map<string, Buffer>();
  const content = (hash: string): Buffer => contents.get(hash) ?? Buffer.alloc(0);
  const store = (path: string, given: string | Buffer): Artifact => {
    const bytes = Buffer.from(given);
    const hash = createHash("sha256").update(bytes).digest("hex");
    contents.set(hash, bytes);
    const kind = fileKind(typeof given === "string", bytes);
    return { path, hash, bytes: bytes.length, kind, isExecutable: path.endsWith(".sh") };
  };
  return {
    /** Gives a run these files: texts, and other contents as bytes. */
    set: (instanceId: string, files: Readonly<Record<string, string | Buffer>>, rest: Given = {}) =>
      void runs.set(instanceId, {
        files: Object.entries(files).map(([path, given]) => store(path, given)),
        leftOut: { files: [], more: 0 },
        dropped: 0,
        ...rest,
      }),
    context: {
      artifacts: {
        of: (instanceId: string) =>
          runs.get(instanceId) ?? { files: [], leftOut: { files: [], more: 0 }, dropped: 0 },
      },
      blobs: {
        read: async function* (hash: string) {
          yield await Promise.resolve(content(hash));
        },
        open: (hash: string) =>
          Promise.resolve({
            read: (buffer: Buffer, offset: number, length: number, from: number) => {
              const bytesRead = content(hash).copy(buffer, offset, from, from + length);
              return Promise.resolve({ buffer, bytesRead });
            },
            close: () => Promise.resolve(),
          }),
      },
    } as unknown as Pick<ArtifactContext, "artifacts" | "blobs">,
  };
}
