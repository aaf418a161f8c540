import { providers } from "../../../../streams/agent-config.ts";
import type { Provider } from "../../../../streams/agent-config.ts";
import { agentNameProblem } from "../../../foundation/config/agent-files.ts";
import { scheduleProblem } from "../../../foundation/config/schedule.ts";
import { UserError } from "../../../foundation/errors.ts";
import { missingFlag } from "../terminal/prompts.ts";
import type { Prompts } from "../terminal/prompts.ts";
import { usualModel } from "./templates.ts";
import type { NewProject, StarterModel } from "./templates.ts";

export interface NewOptions {
  readonly agent?: string;
  readonly provider?: Provider;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly schedule?: string;
  readonly yes?: true;
}

/** What runs often costs nothing with the scripted model only. */
const usualSchedule = { scripted: "* * * * *", real: "0 9 * * *" };

/** What the new project is to be, by the flags, then by the person, then as usual. Throws a UserError (usage). */
export async function chooseProject(
  options: NewOptions,
  prompts: Prompts | null,
): Promise<NewProject> {
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

interface Question {
  readonly flag: string;
  readonly message: string;
  readonly default: string;
  readonly problem: (answer: string) => string | null;
}

async function chosen(
  given: string | undefined,
  prompts: Prompts | null,
  question: Question,
): Promise<string> {
  const value = given ?? (prompts === null ? question.default : await prompts.text(question));
  const problem = question.problem(value);
  if (problem === null) return value;
  throw new UserError("usage", `${question.flag}: ${problem}`, { exitCode: 2 });
}

async function chooseProvider(prompts: Prompts | null): Promise<Provider> {
  if (prompts === null) return "scripted";
  const choices = providers.map((value) => ({
    value,
    name: value === "scripted" ? "scripted: replays a file, needs no key" : value,
  }));
  return prompts.choose("Model provider", choices, "scripted");
}

async function chooseModel(
  provider: Provider,
  { model, baseUrl }: NewOptions,
  prompts: Prompts | null,
): Promise<StarterModel> {
  const usual = usualModel(provider);
  const id =
    model ?? (await askFor("--model", `${provider}'s name of the model`, usual.model, prompts));
  if (provider !== "custom") return { ...usual, model: id, baseUrl: baseUrl ?? null };
  const url = baseUrl ?? (await askFor("--base-url", "URL of the endpoint", "", prompts));
  return { ...usual, model: id, baseUrl: url };
}

async function askFor(
  flag: string,
  message: string,
  usual: string,
  prompts: Prompts | null,
): Promise<string> {
  const problem = (answer: string) => (answer.trim() === "" ? "It can't be empty." : null);
  if (prompts !== null) return prompts.text({ message, default: usual, problem });
  if (usual !== "") return usual;
  throw missingFlag(flag, message);
}
