import { stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ArtifactView } from "../../../features/artifacts/artifact-report.ts";
import { bytesText, counted } from "../../../foundation/contracts/format.ts";
import { ifMissing, Problem, usageError } from "../../../foundation/errors.ts";
import { createBlobs, type Blobs } from "../../../foundation/files/blobs.ts";
import type { Context } from "../context.ts";
import { askRun } from "../operator/reader.ts";
import { plainLine } from "../terminal/format.ts";
import { writeBelow } from "./write-below.ts";

interface GetOptions {
  readonly output?: string;
  readonly force?: boolean;
}

/** Writes a file of a run, or those of a folder; by default all of them. */
export async function getFiles(
  context: Context,
  name: string,
  path: string | undefined,
  { output, force = false }: GetOptions,
): Promise<void> {
  const { instanceId, files } = await askRun(context, name, async (reader, id) => {
    const { files: all } = await reader.perform("GET /api/runs/:instanceId/files", {
      instanceId: id,
    });
    return { instanceId: id, files: all };
  });
  const blobs = createBlobs(context.projectDir);
  const only = files.find((file) => file.path === path);
  if (output === "-") return print(only, blobs);
  const wanted = only === undefined ? filesBelow(files, path, instanceId) : [only];
  const target =
    only === undefined
      ? { folder: resolve(output ?? instanceId), nameOf: ({ path: own }: ArtifactView) => own }
      : await fileTarget(only, output);
  await writeBelow(
    target.folder,
    wanted.map((file) => ({
      path: target.nameOf(file),
      isExecutable: file.executable,
      content: blobs.read(file.sha256),
    })),
    force,
  );
  const written = wanted.map((file) => join(target.folder, target.nameOf(file)));
  const bytes = wanted.reduce((sum, file) => sum + file.bytes, 0);
  const count = only === undefined ? ` (${counted(wanted.length, "file")})` : "";
  const shown = plainLine(only === undefined ? target.folder : (written[0] ?? ""));
  context.out.answer({ written }, `${shown}: ${bytesText(bytes)}${count}`);
}

function filesBelow(
  files: readonly ArtifactView[],
  path: string | undefined,
  instanceId: string,
): readonly ArtifactView[] {
  const folder = path === undefined ? "" : `${path.replace(/\/$/, "")}/`;
  const found = files.filter((file) => file.path.startsWith(folder));
  if (found.length > 0) return found;
  if (files.length === 0) throw new Problem("not_found", `the run ${instanceId} left no files`);
  const hint = `List its files with \`al files ${instanceId}\`.`;
  throw new Problem("not_found", `the run ${instanceId} has no file ${JSON.stringify(path)}`, hint);
}

/** A file goes into the named folder, or gets the named path; by default it keeps its name. */
async function fileTarget({ path }: ArtifactView, output = basename(path)) {
  const target = resolve(output);
  const isFolder = (await stat(target).catch(ifMissing(null)))?.isDirectory() === true;
  const file = isFolder ? basename(path) : basename(target);
  return { folder: isFolder ? target : resolve(target, ".."), nameOf: () => file };
}

async function print(file: ArtifactView | undefined, blobs: Blobs): Promise<void> {
  if (file === undefined) throw usageError("-o - prints one file", "Name a file of the run.");
  await pipeline(blobs.read(file.sha256), process.stdout, { end: false });
}
