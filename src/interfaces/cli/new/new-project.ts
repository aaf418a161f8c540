import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { Problem, usageError } from "../../../foundation/errors.ts";
import { defaultBudget } from "../../../foundation/contracts/budget.ts";
import { noteFirstSchedule } from "../config/note-forecast.ts";
import { findProject, type GlobalContext } from "../context.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import { unknownModels } from "../../../features/models/unknown-models.ts";
import { openPrompts, missingFlag, type Prompts, type TextQuestion } from "../terminal/prompts.ts";
import { writeSchemas } from "../../../runtime/agents/editor-schemas.ts";
import { unwritable, writeNew } from "../write-files.ts";
import { localModels, usualServers, type LocalModel } from "./local-models.ts";
import { serverUrl, serverUrlProblem } from "./server-url.ts";
import { starterProviders, type StarterProvider } from "../options.ts";
import { projectFiles, usualModel, type NewProject, type StarterModel } from "./templates.ts";
import { agentNameProblem } from "../../../foundation/config/agent-files.ts";
import { scheduleProblem } from "../../../foundation/config/schedule.ts";

/** Makes a project that runs at once. Never overwrites: it throws a Problem instead, and writes nothing. */
export async function newProject(
  context: GlobalContext,
  given: string,
  options: NewOptions,
): Promise<void> {
  const { out } = context;
  const dir = resolve(given);
  refuseFile(dir, "config.toml", "Add an agent to it with `al agent new`.");
  refuseNested(dir);
  const prompts = options.yes ? null : await openPrompts(context);
  const project = await chooseProject(withServer(options), prompts);
  const files = projectFiles(project);
  for (const path of files.keys()) refuseFile(dir, path);
  await writeAll(dir, files);
  await writeSchemas(dir);
  const { agent, isReal, model } = project;
  const asked = { ...model, api: null, contextWindow: null, maxTokens: null };
  for (const { problem, fix } of await unknownModels([asked]))
    out.note(`warning: ${problem}; ${fix}`);
  const models = isReal ? [model.name] : ["scripted"];
  if (out.json) return out.document({ dir, files: [...files.keys()], agent, models });
  for (const path of files.keys()) out.data(path);
  if (model.baseUrl !== null) out.note(`model ${model.name} is at ${model.baseUrl}`);
  if (isReal) {
    const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();
    const { schedule: expression } = project;
    noteFirstSchedule(out, { agent, expression, timezone, runUsd: defaultBudget.runUsd });
  }
  for (const line of nextSteps(dir, project)) out.note(line);
}

function refuseNested(dir: string): void {
  const project = findProject(dir);
  if (project === dir) return;
  throw new Problem(
    "exists",
    `${dir} would be inside the project ${project}`,
    "Add an agent with `al agent new`, or name a directory outside of the project.",
  );
}

function refuseFile(dir: string, path: string, hint = "Name another directory."): void {
  const file = join(dir, path);
  if (existsSync(file)) {
    throw new Problem("exists", `${file} already exists; nothing was written`, hint);
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
  const key = model.isKeyless ? null : `al creds add ${model.provider}_key`;
  return [
    "",
    `${dir} is ready. Next:`,
    ...(there === "" ? [] : [`  cd ${shellWord(there)}`]),
    ...(isReal && key !== null ? [`  ${key}`] : []),
    "  al start --web-ui",
    `  al run ${agent}`,
    ...(isReal
      ? []
      : [
          "",
          `For a real model, run \`${key ?? ""}\` and set models = ["${model.name}"] in agents/${agent}/config.toml.`,
        ]),
  ];
}

interface NewOptions {
  readonly agent?: string;
  readonly provider?: StarterProvider;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly schedule?: string;
  readonly yes?: true;
}

/** Throws a Problem (usage). */
function withServer(options: NewOptions): NewOptions {
  if (options.baseUrl === undefined) return options;
  const baseUrl = serverUrl(options.baseUrl);
  if (baseUrl !== null) return { ...options, baseUrl };
  throw usageError(`--base-url: ${serverUrlProblem(options.baseUrl) ?? ""}`);
}

/** Frequent runs are free with the scripted model only. */
const usualSchedule = { scripted: "* * * * *", real: "0 9 * * *" };

/** The new project by the flags, then by the person, then by the defaults. Throws a Problem (usage). */
async function chooseProject(options: NewOptions, prompts: Prompts | null): Promise<NewProject> {
  const agent = await chosen(options.agent, prompts, {
    flag: "--agent",
    message: "Name of the first agent",
    default: "hello",
    problem: agentNameProblem,
  });
  const provider = options.provider ?? (await chooseProvider(prompts));
  const isReal = provider !== "scripted";
  const model = isReal ? await chooseModel(provider, options, prompts) : usualModel("anthropic");
  const schedule = await chosen(options.schedule, prompts, {
    flag: "--schedule",
    message: "When it runs, as a cron expression",
    default: isReal ? usualSchedule.real : usualSchedule.scripted,
    problem: scheduleProblem,
  });
  return { agent, schedule, model, isReal };
}

async function chosen(
  given: string | undefined,
  prompts: Prompts | null,
  question: Required<TextQuestion> & { readonly flag: string },
): Promise<string> {
  const value = given ?? (prompts === null ? question.default : await prompts.text(question));
  const problem = question.problem(value);
  if (problem === null) return value;
  throw usageError(`${question.flag}: ${problem}`);
}

const providerNames: Readonly<Record<StarterProvider, string>> = {
  anthropic: "Anthropic (Claude)",
  openai: "OpenAI (GPT)",
  google: "Google (Gemini)",
  groq: "Groq",
  xai: "xAI (Grok)",
  mistral: "Mistral",
  openrouter: "OpenRouter",
  custom: "Another server, with a key",
  scripted: "None yet: replay a script, without a key",
  local: "Your own server, without a key: Ollama, LM Studio, vLLM",
};

async function chooseProvider(prompts: Prompts | null): Promise<StarterProvider> {
  if (prompts === null) return "scripted";
  const choices = starterProviders.map((value) => ({ value, name: providerNames[value] }));
  return prompts.choose("Model provider", choices, "scripted");
}

async function chooseModel(
  provider: StarterProvider,
  options: NewOptions,
  prompts: Prompts | null,
): Promise<StarterModel> {
  if (provider === "local") return chooseLocal(options, prompts);
  const { model, baseUrl } = options;
  const usual = usualModel(provider);
  const id = model ?? (await askFor("--model", "Model ID", usual.model, prompts));
  if (provider !== "custom") return { ...usual, model: id, baseUrl: baseUrl ?? null };
  const url = baseUrl ?? (await askUrl("URL of the server", "", prompts));
  return { ...usual, model: id, baseUrl: url };
}

/** Asks the servers for their models, and without a server the person. */
async function chooseLocal(options: NewOptions, prompts: Prompts | null): Promise<StarterModel> {
  const listed = await localModels(options.baseUrl ? [options.baseUrl] : usualServers);
  const fitting = listed.filter(({ model }) => model === (options.model ?? model));
  const found = await chooseFound(fitting, prompts);
  const baseUrl =
    options.baseUrl ??
    found?.baseUrl ??
    (await askUrl("URL of the server", usualServers[0], prompts));
  const model =
    options.model ??
    found?.model ??
    (await askFor("--model", "No server answered. Model ID", "", prompts));
  return { name: "local", provider: "custom", model, baseUrl, isKeyless: true };
}

/** The person chooses; without a terminal the first model that is not for embeddings. Undefined if none fits. */
async function chooseFound(found: readonly LocalModel[], prompts: Prompts | null) {
  if (prompts === null || found.length < 2) return found.find(({ model }) => !/embed/i.test(model));
  const name = ({ model, baseUrl }: LocalModel) => `${model}  (${baseUrl})`;
  const choices = found.map((one, index) => ({ value: String(index), name: name(one) }));
  return found[Number(await prompts.choose("Model", choices))];
}

async function askUrl(message: string, usual: string, prompts: Prompts | null): Promise<string> {
  const typed = await askFor("--base-url", message, usual, prompts, serverUrlProblem);
  return serverUrl(typed) ?? typed;
}

const emptyProblem = (answer: string): string | null =>
  answer.trim() === "" ? "It can't be empty." : null;

async function askFor(
  flag: string,
  message: string,
  usual: string,
  prompts: Prompts | null,
  problem = emptyProblem,
): Promise<string> {
  if (prompts !== null) return prompts.text({ message, default: usual, problem });
  if (usual !== "") return usual;
  throw missingFlag(flag, message);
}
