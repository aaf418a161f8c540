import { bytesText, counted } from "../../../foundation/contracts/format.ts";
import { whoText } from "../../../foundation/contracts/questions.ts";
import { Problem } from "../../../foundation/errors.ts";
import { changesText } from "../../../features/memory/changes-text.ts";
import { placeOf } from "../../../features/memory/memory-place.ts";
import type { MemoryVersionView } from "../../../features/memory/memory-views.ts";
import type { Context } from "../context.ts";
import { renderDifference } from "../status/render-run.ts";
import { localTime, plain, plainLine } from "../terminal/format.ts";
import { openPrompts, mustConfirm } from "../terminal/prompts.ts";
import { renderTable, titled } from "../terminal/table.ts";
import { connect, explained } from "./connect.ts";
import { askProject } from "./reader.ts";

/** Prints the versions of a memory, the latest first. */
export async function showVersions(
  context: Context,
  memory: string,
  { lines: limit }: { readonly lines: number },
): Promise<void> {
  const { out } = context;
  const { at, name } = placeOf(memory);
  const { versions, next } = await askProject(context, (reader) =>
    reader.perform(`GET ${at}/versions`, { name, limit }),
  );
  if (out.json) return out.document({ versions, next });
  if (versions.length === 0) return out.note(`no run has changed the memory ${memory} yet`);
  const rows = versions.map((version) => [
    String(version.n),
    localTime(version.at, Date.now()),
    sourceText(version),
    String(version.files),
    bytesText(version.bytes),
    plainLine(changesText(version.changes)),
  ]);
  const titles = titled("Version", "When", "Run or person…", "Files", "Size", "Changes…");
  out.data(renderTable(titles, rows, out));
  if (next !== null) out.note(`more than ${counted(limit, "version")}; -n shows more`);
}

function sourceText({ instanceId, by }: MemoryVersionView): string {
  const who = by === null ? null : plainLine(whoText(by));
  if (instanceId === null) return `restored by ${who ?? "nobody"}`;
  return who === null ? instanceId : `${instanceId}, allowed by ${who}`;
}

/** Prints the files of a memory with their sizes, or one file. */
export async function showMemory(
  context: Context,
  memory: string,
  path: string | undefined,
  { at: version }: { readonly at?: number },
): Promise<void> {
  const { out } = context;
  const { at, name } = placeOf(memory);
  if (path !== undefined) {
    const file = await askProject(context, (reader) =>
      reader.perform(`GET ${at}/text`, { name, path, version }),
    );
    if (out.json) return out.document(file);
    if (file.text !== null) return out.data(plain(file.text.replace(/\n$/, "")));
    const hint = `Download it: GET ${at.replace(":name", name)}/files/${path}`;
    throw new Problem("not_text", `the file ${path} is binary or larger than 256 KiB`, hint);
  }
  const found = await askProject(context, (reader) => reader.perform(`GET ${at}`, { name }));
  if (out.json) return out.document(found);
  const { files, bytes, limits, notKept, conflicts, proposals, shared } = found;
  const rows = files.map((file) => [
    bytesText(file.bytes),
    plainLine(file.path),
    conflicts.includes(file.path) ? "conflict" : "",
  ]);
  if (rows.length > 0) out.data(renderTable(titled("Size", "File…", ""), rows, out));
  const limit = limits === null ? "" : ` of ${bytesText(limits.maxBytes)}`;
  out.note(
    `version ${found.version}: ${counted(files.length, "file")}, ${bytesText(bytes)}${limit}`,
  );
  if (limits === null) out.note("the config no longer has this memory");
  if (notKept !== null)
    out.note(`not kept from ${notKept.instanceId}: ${plainLine(notKept.reason)}`);
  if (proposals > 0) out.note(`${counted(proposals, "proposal")} to decide: al questions`);
  if (shared.length > 0) out.note(`shared: ${shared.map((one) => `shared/${one}`).join(", ")}`);
}

/** Prints the difference between two versions, by default what the latest one changed. */
export async function showMemoryDifference(
  context: Context,
  memory: string,
  first: number | undefined,
  second: number | undefined,
): Promise<void> {
  const { out } = context;
  const { at, name } = placeOf(memory);
  const sides = second === undefined ? { to: first } : { from: first, to: second };
  const found = await askProject(context, (reader) =>
    reader.perform(`GET ${at}/diff`, { name, ...sides }),
  );
  if (out.json) return out.document(found);
  const { from, to, text, changes } = found;
  out.note(`from version ${from} to ${to}: ${changesText(changes)}`);
  if (text !== "") out.data(renderDifference(text, out.colors));
}

/** Makes a new version with the files of an earlier one. */
export async function restoreMemory(
  context: Context,
  memory: string,
  version: number,
  { yes = false }: { readonly yes?: boolean },
): Promise<void> {
  const { out } = context;
  const { at, name } = placeOf(memory);
  const client = await connect(context);
  if (!yes) {
    const { version: from } = await client.perform(`GET ${at}`, { name });
    const sides = { name, from, to: version };
    const { text, changes } = await client.perform(`GET ${at}/diff`, sides);
    if (text !== "" && !out.json) out.data(renderDifference(text, out.colors));
    await mustConfirm(await openPrompts(context), {
      question: `Restore version ${version} of the memory ${memory} (${changesText(changes)})?`,
      why: `version ${version} of the memory ${memory} would replace the latest one`,
      refused: "nothing was restored",
    });
  }
  const asked = client.perform(`POST ${at}/restore`, { name, version });
  const hint = `List its versions with \`al memory log ${memory}\`.`;
  const restored = await explained(asked, ["unknown_version"], { hint });
  out.answer(restored, `restored: the memory ${memory} is at version ${restored.version}`);
}
