import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { UserError } from "../../../foundation/errors.ts";
import { defaultBudget } from "../../../foundation/contracts/budget.ts";
import { noteFirstSchedule } from "../config/note-forecast.ts";
import type { GlobalContext } from "../context.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import { unknownModels } from "../../../features/models/unknown-models.ts";
import { openPrompts } from "../terminal/prompts.ts";
import { writeSchemas } from "../../operations/editor-schemas.ts";
import { unwritable, writeNew } from "../write-files.ts";
import { chooseProject } from "./choose-project.ts";
import type { NewOptions } from "./choose-project.ts";
import { projectFiles } from "./templates.ts";
import type { NewProject } from "./templates.ts";

/** Makes a project that runs at once. Never overwrites: then it throws a UserError, and nothing was written. */
export async function newProject(
  context: GlobalContext,
  given: string,
  options: NewOptions,
): Promise<void> {
  const { out } = context;
  const dir = resolve(given);
  refuseExisting(dir);
  const prompts = options.yes ? null : await openPrompts(context);
  const project = await chooseProject(options, prompts);
  const files = projectFiles(project);
  for (const path of files.keys()) refuseFile(dir, path);
  await writeAll(dir, files);
  await writeSchemas(dir);
  const { agent, isReal, model } = project;
  const asked = { ...model, api: null, contextWindow: null, maxTokens: null };
  for (const { what, fix } of await unknownModels([asked])) out.note(`warning: ${what}; ${fix}`);
  const models = isReal ? [model.name] : ["scripted"];
  if (out.json) return out.document({ dir, files: [...files.keys()], agent, models });
  for (const path of files.keys()) out.data(path);
  if (isReal) {
    const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();
    const { schedule: expression } = project;
    noteFirstSchedule(out, { agent, expression, timezone, runUsd: defaultBudget.runUsd });
  }
  for (const line of nextSteps(dir, project)) out.note(line);
}

function refuseExisting(dir: string): void {
  refuseFile(dir, "config.toml", "al agent new adds an agent to it");
}

function refuseFile(dir: string, path: string, hint = "name another directory"): void {
  const file = join(dir, path);
  if (existsSync(file)) {
    throw new UserError("exists", `${file} is there already; nothing was written`, { hint });
  }
}

async function writeAll(dir: string, files: ReadonlyMap<string, string>): Promise<void> {
  const written: string[] = [];
  try {
    for (const [path, content] of files) {
      const file = join(dir, path);
      await writeNew(file, { content });
      written.push(file);
    }
  } catch (error) {
    for (const file of written) await rm(file, { force: true });
    throw unwritable("the project", error, "name a directory that you may write to");
  }
}

function nextSteps(dir: string, { agent, model, isReal }: NewProject): string[] {
  const there = relative(process.cwd(), dir);
  const key = `al creds add ${model.provider}_key`;
  return [
    "",
    `${dir} is ready. Next:`,
    ...(there === "" ? [] : [`  cd ${shellWord(there)}`]),
    ...(isReal ? [`  ${key}`] : []),
    "  al start --web-ui",
    `  al run ${agent}`,
    ...(isReal
      ? []
      : [
          "",
          `For a real model: ${key}, then models = ["${model.name}"] in agents/${agent}/config.toml.`,
        ]),
  ];
}
