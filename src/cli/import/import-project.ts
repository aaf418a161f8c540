import { basename, relative, resolve } from "node:path";
import { shellWord } from "../../contracts/shell-word.ts";
import { homeDir } from "../../credentials/home-dir.ts";
import { UserError } from "../../errors.ts";
import type { Context } from "../context.ts";
import { missingFlag, openPrompts } from "../terminal/prompts.ts";
import type { Prompts } from "../terminal/prompts.ts";
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
import type { Remark } from "./remarks.ts";
import { renderCredentials, renderPlan, section } from "./render-import.ts";
import { assertNewTarget, writeProject } from "./write-project.ts";

export interface ImportOptions {
  readonly to?: string;
  /** Consent to copy credentials; a text is their directory. */
  readonly credentials?: string | true;
  readonly yes?: true;
}

type ImportContext = Omit<Context, "projectDir">;

/**
 * Makes an Almanac project of a project of Action Llama, which stays as it is, after showing what it is going to be.
 * Overwrites nothing; throws a UserError when it can't, and then nothing was written.
 */
export async function importProject(
  context: ImportContext,
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
  const found = await findCredentials(store, plan.credentials);
  const prompts = options.yes ? null : await openPrompts(context);
  if (!out.json) out.note(renderPlan(plan, { source: source.dir, target }, out.colors));
  if (!options.yes) await confirm(prompts, target);
  await writeProject(target, plan.files);
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
    edits: remarks.filter(({ fix }) => fix !== null),
    notes: remarks.filter(({ fix }) => fix === null),
    leftOut: plan.leftOut,
  });
}

async function confirm(prompts: Prompts | null, target: string): Promise<void> {
  if (prompts === null) throw missingFlag("--yes", "nothing was written");
  if (await prompts.confirm(`Write ${target}?`)) return;
  throw new UserError("refused", "nothing was written");
}

/** The flag is a consent; a person is asked. Without either, nothing is copied. */
async function mayCopy(
  { out, env }: ImportContext,
  found: FoundCredentials,
  prompts: Prompts | null,
  options: ImportOptions,
): Promise<boolean> {
  if (found.fields.length === 0) return false;
  if (options.credentials !== undefined) return true;
  if (prompts === null) return false;
  out.note(renderCredentials(found, homeDir(env)));
  return prompts.confirm("Copy these credentials?");
}

function report(
  { out }: ImportContext,
  project: string,
  { agents, files, remarks }: ImportPlan,
  copied: readonly string[],
  left: readonly Remark[],
): void {
  for (const path of files.keys()) out.data(path);
  if (copied.length > 0) out.note(`\ncopied credentials: ${copied.join(", ")}`);
  out.note(section("Credentials to add:", left, out.colors).join("\n"));
  const count = remarks.filter(({ fix }) => fix !== null).length;
  const edits = count === 1 ? "the edit" : `the ${count} edits`;
  out.note(`\n${project} is ready${count === 0 ? "" : ` after ${edits} above`}. Next:`);
  out.note(`  cd ${shellWord(relative(process.cwd(), project) || ".")}`);
  out.note("  al doctor");
  out.note(`  al run ${agents[0] ?? ""}`);
}
