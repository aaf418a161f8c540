import type { ArtifactsView, ArtifactView } from "../../../features/artifacts/artifact-report.ts";
import { bytesText, counted } from "../../../foundation/contracts/format.ts";
import type { Context } from "../context.ts";
import { askRun } from "../operator/reader.ts";
import { plainLine } from "../terminal/format.ts";
import { renderTable, titled } from "../terminal/table.ts";

/** Prints the files that a run left, and those that were not kept. */
export async function listFiles(context: Context, name: string): Promise<void> {
  const { out } = context;
  const found = await askRun(context, name, (reader, instanceId) =>
    reader.perform("GET /api/runs/:instanceId/files", { instanceId }),
  );
  if (out.json) return out.document(found);
  const { files, bytes } = found;
  if (files.length === 0) out.note("the run left no files");
  else out.data(renderTable(titled("File…", "Size", "Kind"), files.map(fileRow), out));
  if (files.length > 1) out.note(`${counted(files.length, "file")}, ${bytesText(bytes)}`);
  for (const line of notKept(found)) out.note(line);
  if (out.columns !== null && files.length > 0) out.note("al get <run> <file> writes one of them");
}

function fileRow({ path, bytes, kind, executable }: ArtifactView): string[] {
  const scanned = kind === "text" ? kind : `${kind}, not scanned`;
  return [plainLine(path), bytesText(bytes), executable ? `${scanned}, executable` : scanned];
}

function notKept({ leftOut: { files, more }, dropped }: ArtifactsView): string[] {
  return [
    ...files.map(({ path, bytes, why }) => {
      const size = bytes === null ? "" : `${bytesText(bytes)}, `;
      return `not kept: ${plainLine(path)} (${size}${plainLine(why)})`;
    }),
    ...(more > 0 ? [`not kept: ${counted(more, "other")}`] : []),
    ...(dropped > 0
      ? [
          `deleted: ${counted(dropped, "file")}; the artifacts of all runs exceeded the project's limit`,
        ]
      : []),
  ];
}
