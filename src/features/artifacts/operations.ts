import { instanceParams, unknownInstance } from "../../foundation/contracts/params.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import { Problem } from "../../foundation/errors.ts";
import type { Blobs } from "../../foundation/files/blobs.ts";
import { operationsOf } from "../../foundation/operation.ts";
import type { StoreReader } from "../../foundation/store/store.ts";
import { artifactsSchema, artifactTextQuery, artifactTextSchema } from "./artifact-report.ts";
import type { Artifact, ArtifactStore } from "./artifact-store.ts";

export interface ArtifactContext {
  readonly store: Pick<StoreReader, "runs">;
  readonly artifacts: ArtifactStore;
  readonly blobs: Blobs;
  readonly redactor: Redactor | Promise<Redactor>;
}

const { read } = operationsOf<ArtifactContext>("Artifacts");

export const listArtifacts = read("/api/runs/:instanceId/files", {
  summary: "The files that a run left in `out/`",
  description: "Also of a run that failed or timed out. A run that has not ended has none yet.",
  params: instanceParams,
  output: artifactsSchema,
  changedBy: ["agents"],
  problems: [404, 503],
  perform: ({ instanceId }, { store, artifacts }) => {
    if (store.runs.find(instanceId) === undefined) throw unknownInstance(instanceId);
    const { files, leftOut, dropped } = artifacts.of(instanceId);
    return {
      files: files.map(({ path, bytes, kind, isExecutable: executable, hash }) => {
        return { path, bytes, kind, executable, sha256: hash };
      }),
      bytes: files.reduce((sum, file) => sum + file.bytes, 0),
      leftOut: { ...leftOut, files: [...leftOut.files] },
      dropped,
    };
  },
});

export const readArtifactText = read("/api/runs/:instanceId/file-text", {
  summary: "The text of a file that a run left, in parts",
  params: instanceParams,
  input: artifactTextQuery,
  output: artifactTextSchema,
  problems: [404, 409, 503],
  perform: async ({ instanceId, path, from, most }, context) => {
    const file = mustHaveArtifact(context.artifacts, instanceId, path);
    if (file.kind !== "text") {
      throw new Problem("unreadable_file", `${JSON.stringify(path)} is not a text. Download it.`);
    }
    const { text, next } = await textPart(file, from, most, context.blobs);
    const { redact } = await context.redactor;
    return { path, bytes: file.bytes, text: redact(text), next };
  },
});

/** A file of a run. Throws Problem `not_found`. */
export function mustHaveArtifact(
  artifacts: ArtifactStore,
  instanceId: string,
  path: string,
): Artifact {
  const file = artifacts.of(instanceId).files.find((one) => one.path === path);
  if (file !== undefined) return file;
  throw new Problem("not_found", `The run ${instanceId} has no file ${JSON.stringify(path)}.`);
}

/** A part of a text, cut between characters. */
async function textPart({ hash, bytes }: Artifact, from: number, most: number, blobs: Blobs) {
  const handle = await blobs.open(hash);
  try {
    // One byte more shows whether a character begins at the cut.
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(most + 1), 0, most + 1, from);
    const end = bytesRead <= most ? bytesRead : characterStart(buffer, most);
    const next = from + end < bytes && end > 0 ? from + end : null;
    return { text: buffer.toString("utf8", 0, end), next };
  } finally {
    await handle.close();
  }
}

function characterStart(buffer: Buffer, at: number): number {
  let start = at;
  while (start > 0 && ((buffer[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
