import { basename, relative, resolve } from "node:path";
import { shellWord } from "../../contracts/shell-word.ts";
import { homeDir } from "../../credentials/home-dir.ts";
import { UserError } from "../../errors.ts";
import type { Context } from "../context.ts";
import { missingFlag, openPrompts } from "../prompts.ts";
import type { Prompts } from "../prompts.ts";
import {
  copyCredentials,
  findCredentials,
  missingRemarks,
  theirStore,
  uncopiedRemarks,
} from "./credentials.ts";
import type { FoundCredentials } from "./credentials.ts";
import { planImport } from "./plan-import.ts";
import type { ImportPlan } from "./plan-import.ts";
import { readSource } from "./read-source.ts";
import type { Remark } from "./remark.ts";
import { renderCredentials, renderPlan, section } from "./render-import.ts";
import { refuseTarget, writeProject } from "./write-project.ts";

export interface ImportOptions {
  readonly to?: string;
  /** Consent to copy credentials; a text is their directory. */
  readonly credentials?: string | true;
  readonly yes?: true;
}

type Around = Omit<Context, "projectDir">;

/**
 * Makes an Almanac project of a project of Action Llama, which stays as it is, after showing what it is going to be.
 * Overwrites nothing; throws a UserError when it can't, and then nothing was written.
 */
export async function importProject(
  around: Around,
  given: string,
  options: ImportOptions,
): Promise<void> {
  const { out, env } = around;
  const source = await readSource(resolve(given));
  const target = resolve(options.to ?? `${basename(source.dir)}-almanac`);
  await refuseTarget(target, source.dir);
  const plan = planImport(source, target);
  const store =
    typeof options.credentials === "string" ? resolve(options.credentials) : theirStore();
  const credentials = await findCredentials(store, plan.credentials);
  const prompts = options.yes ? null : await openPrompts(around);
  if (!out.json) out.note(renderPlan(plan, { source: source.dir, target }, out.colors));
  if (!options.yes) await confirm(prompts, target);
  await writeProject(target, plan.files);
  const isCopied = await mayCopy(around, credentials, prompts, options);
  const home = homeDir(env);
  const copied = isCopied
    ? await copyCredentials(home, credentials)
    : { names: [], remarks: uncopiedRemarks(credentials) };
  const left = [...missingRemarks(credentials), ...copied.remarks];
  report(around, { from: source.dir, project: target, plan, copied: copied.names, left });
}

async function confirm(prompts: Prompts | null, target: string): Promise<void> {
  if (prompts === null) throw missingFlag("--yes", "nothing was written");
  if (await prompts.confirm(`Write ${target}?`)) return;
  throw new UserError("refused", "nothing was written");
}

/** The flag is a consent; a person is asked, and nothing is copied for a program that didn't say so. */
async function mayCopy(
  { out, env }: Around,
  credentials: FoundCredentials,
  prompts: Prompts | null,
  options: ImportOptions,
): Promise<boolean> {
  if (credentials.fields.length === 0) return false;
  if (options.credentials !== undefined) return true;
  if (prompts === null) return false;
  out.note(renderCredentials(credentials, homeDir(env)));
  return prompts.confirm("Copy these credentials?");
}

interface Imported {
  readonly from: string;
  readonly project: string;
  readonly plan: ImportPlan;
  readonly copied: readonly string[];
  /** What is to be done about credentials. */
  readonly left: readonly Remark[];
}

function report({ out }: Around, { from, project, plan, copied, left }: Imported): void {
  const { agents, leftOut, files } = plan;
  const remarks = [...plan.remarks, ...left];
  if (out.json) {
    const edits = remarks.filter(({ kind }) => kind === "edit").map(withoutKind);
    const notes = remarks.filter(({ kind }) => kind === "note").map(withoutKind);
    return out.document({
      project,
      from,
      agents,
      files: [...files.keys()],
      copied,
      edits,
      notes,
      leftOut,
    });
  }
  for (const path of files.keys()) out.data(path);
  if (copied.length > 0) out.note(`\ncopied credentials: ${copied.join(", ")}`);
  out.note(section("Credentials to add:", left, out.colors).join("\n"));
  for (const line of nextSteps(project, plan)) out.note(line);
}

function withoutKind({ file, line, message, fix }: Remark): Omit<Remark, "kind"> {
  return { file, line, message, fix };
}

function nextSteps(project: string, { agents, remarks }: ImportPlan): readonly string[] {
  const count = remarks.filter(({ kind }) => kind === "edit").length;
  const edits =
    count === 0 ? "" : ` after ${count === 1 ? "the edit" : `the ${count} edits`} above`;
  return [
    `\n${project} is ready${edits}. Next:`,
    `  cd ${shellWord(relative(process.cwd(), project) || ".")}`,
    "  al doctor",
    `  al run ${agents[0] ?? ""}`,
  ];
}
