import { existsSync } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { counted } from "../../../foundation/contracts/format.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import { homeDir } from "../../../foundation/credentials/read-secret.ts";
import { UserError } from "../../../foundation/errors.ts";
import type { GlobalContext } from "../context.ts";
import { writeSchemas } from "../../operations/editor-schemas.ts";
import { plainLine } from "../terminal/format.ts";
import type { Colors } from "../terminal/output.ts";
import { mustConfirm, openPrompts, type Prompts } from "../terminal/prompts.ts";
import { writeDirectory } from "../write-files.ts";
import {
  copyCredentials,
  findCredentials,
  missingRemarks,
  theirStore,
  uncopiedRemarks,
} from "./credentials.ts";
import type { FoundCredentials } from "./credentials.ts";
import type { Remark } from "./tables.ts";
import { planImport, type ImportPlan } from "./plan-import.ts";
import { readSource } from "./read-source.ts";

export interface ImportOptions {
  readonly to?: string;
  /** Consent to copy credentials; a text is their directory. */
  readonly credentials?: string | true;
  readonly yes?: true;
}

/**
 * Makes an Almanac project of a project of Action Llama, which is unchanged, after showing the plan. Overwrites nothing;
 * throws a UserError on failure, in which case nothing was written.
 */
export async function importProject(
  context: GlobalContext,
  given: string,
  options: ImportOptions,
): Promise<void> {
  const { out, env } = context;
  const source = await readSource(resolve(given));
  const target = resolve(options.to ?? `${basename(source.dir)}-almanac`);
  await assertNewTarget(target, source.dir);
  const plan = planImport(source, target);
  const store =
    typeof options.credentials === "string" ? resolve(options.credentials) : theirStore();
  const found = await findCredentials(homeDir(env), store, plan.credentials);
  const prompts = options.yes ? null : await openPrompts(context);
  if (!out.json) out.note(renderPlan(plan, source.dir, target, out.colors));
  if (!options.yes) {
    const [question, why] = [`Write ${target}?`, "nothing was written"];
    await mustConfirm(prompts, { question, why, refused: why });
  }
  const hint = "name a directory that you may write to with --to";
  await writeDirectory(target, plan.files, { draftsDir: dirname(target), hint });
  await writeSchemas(target);
  const copied = (await mayCopy(context, found, prompts, options))
    ? await copyCredentials(homeDir(env), found)
    : { names: [], remarks: uncopiedRemarks(found) };
  const left = [...missingRemarks(found), ...copied.remarks];
  if (!out.json) return report(context, target, plan, copied.names, left);
  const remarks = [...plan.remarks, ...left];
  out.document({
    project: target,
    from: source.dir,
    agents: plan.agents,
    files: [...plan.files.keys()],
    copied: copied.names,
    edits: remarks.filter(isEdit),
    notes: remarks.filter((remark) => !isEdit(remark)),
    leftOut: plan.leftOut,
  });
}

/** Throws a UserError if the new project would be inside the source, or its place is taken. */
async function assertNewTarget(target: string, source: string): Promise<void> {
  const place = `${await realOf(target)}${sep}`;
  if (place.startsWith(`${await realpath(source)}${sep}`)) {
    const message = `${target} is in the project that is imported, which stays as it is`;
    const hint = "name a directory outside of it with --to";
    throw new UserError("usage", message, hint);
  }
  const names = existsSync(target) ? await readdir(target).catch(() => [target]) : [];
  if (names.length === 0) return;
  throw new UserError("exists", `${target} already exists; nothing was written`, {
    hint: "name a directory that is not there with --to",
  });
}

/** The real path, whose end may not exist yet. */
async function realOf(path: string): Promise<string> {
  return existsSync(path) ? realpath(path) : join(await realOf(dirname(path)), basename(path));
}

/** The flag gives consent; otherwise a person is asked. Without either, nothing is copied. */
async function mayCopy(
  { out, env }: GlobalContext,
  { store, fields }: FoundCredentials,
  prompts: Prompts | null,
  options: ImportOptions,
): Promise<boolean> {
  if (fields.length === 0) return false;
  if (options.credentials !== undefined) return true;
  if (prompts === null) return false;
  out.note(`From ${plainLine(store)} to ${plainLine(homeDir(env))}/credentials:`);
  for (const { name } of fields) out.note(`  ${plainLine(name)}`);
  return prompts.confirm("Copy these credentials?");
}

/** The files, changes and edits of the import, for the person who decides. */
function renderPlan(
  { agents, files, remarks, leftOut }: ImportPlan,
  source: string,
  target: string,
  colors: Colors,
): string {
  const notes = remarks.filter((remark) => !isEdit(remark));
  return [
    `${colors.bold(plainLine(source))} has ${counted(agents.length, "agent")}: ${agents.join(", ")}`,
    `It stays as it is, and becomes ${colors.bold(plainLine(target))}:`,
    ...[...files.keys()].map((path) => `  ${plainLine(path)}`),
    ...section("Changed:", notes, colors),
    ...section("To do by hand afterwards:", remarks.filter(isEdit), colors),
    ...(leftOut.length === 0
      ? []
      : ["", colors.bold("Not taken:"), `  ${plainLine(leftOut.join(", "))}`]),
  ].join("\n");
}

/** Whether a person still has to act. */
function isEdit({ fix }: Remark): boolean {
  return fix !== null;
}

/** The remarks under a heading; empty without any. */
function section(heading: string, remarks: readonly Remark[], colors: Colors): string[] {
  if (remarks.length === 0) return [];
  const lines = remarks.flatMap(({ file, line, message, fix }) => {
    const place = [file, line].filter((part) => part !== null).join(":");
    return [
      `  ${place === "" ? "" : `${colors.cyan(place)}  `}${plainLine(message)}`,
      ...(fix === null ? [] : [`      ${colors.dim("fix:")} ${plainLine(fix)}`]),
    ];
  });
  return ["", colors.bold(heading), ...lines];
}

function report(
  { out }: GlobalContext,
  project: string,
  { agents, files, remarks }: ImportPlan,
  copied: readonly string[],
  left: readonly Remark[],
): void {
  for (const path of files.keys()) out.data(path);
  if (copied.length > 0) out.note(`\ncopied credentials: ${copied.join(", ")}`);
  out.note(section("Credentials to add:", left, out.colors).join("\n"));
  const count = remarks.filter(isEdit).length;
  const edits = count === 1 ? "the edit" : `the ${count} edits`;
  out.note(`\n${project} is ready${count === 0 ? "" : ` after ${edits} above`}. Next:`);
  out.note(`  cd ${shellWord(relative(process.cwd(), project) || ".")}`);
  out.note("  al doctor");
  out.note(`  al run ${agents[0] ?? ""}`);
}
