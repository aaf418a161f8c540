import { modelsOfRuns } from "../foundation/contracts/model-defaults.ts";
import type { AgentConfig, ModelConfig } from "../../streams/agent-config.ts";
import type { RunRequest } from "../../streams/vocabulary.ts";
import { outsideOfRuns } from "../foundation/contracts/job.ts";
import type { Job, JobCredential, JobFile, JobModel } from "../foundation/contracts/job.ts";
import { UserError } from "../foundation/errors.ts";
import type { Brokering } from "./brokering.ts";
import { modelProblem } from "./model-calls.ts";
import type { LoadedCredential, ModelSources } from "./model-calls.ts";

/** The sources of a job. All reject with a UserError that names what is missing and what to do. */
export interface JobSources extends ModelSources {
  /** Rejects when the command line that the agent's harness starts is surely not there. */
  readonly checkCommand: (agent: AgentConfig) => Promise<void>;
  /** What the run gets of them: what stands for the secrets that are put in outside of it. */
  readonly broker: Brokering["forRun"];
  /** Adds the environment variables, in the agent's order. */
  readonly stage: (credentials: readonly LoadedCredential[]) => readonly JobCredential[];
  /** The files of an agent's skill beside SKILL.md, as they are now. */
  readonly files: (agent: string) => Promise<readonly JobFile[]>;
  /** The body of an accepted webhook as text; null when retention took it. */
  readonly payload: (receiptId: string) => string | null;
  /** In the order to try. */
  readonly orderModels: (models: readonly ModelConfig[]) => readonly ModelConfig[];
  /** How an agent's runs reach the network; undefined where that is open, without proxies and certificates. */
  readonly network: (agent: AgentConfig) => Promise<Job["network"]>;
  /** The run's way to the scheduler; null for a run of an earlier one, which has its own. */
  readonly channel: (request: RunRequest) => Promise<Job["channel"]>;
}

/** Everything that a run gets, secrets included. Rejects when something it needs is missing; then it does not start. */
export async function prepareJob(
  request: RunRequest,
  workDir: string,
  sources: JobSources,
): Promise<Job> {
  const { agent, instanceId, item } = request;
  const [models, files, network, credentials] = await Promise.all([
    jobModels(agent, sources),
    sources.files(agent.name),
    sources.network(agent),
    Promise.all(agent.credentials.map((reference) => sources.credential(reference))),
    sources.checkCommand(agent),
  ]);
  const { trigger } = item;
  const inRun = await sources.broker(request, credentials);
  return {
    instanceId,
    agent: agent.name,
    title: agent.title,
    instructions: agent.instructions,
    files: [...files],
    harness: { ...agent.harness },
    models,
    params: Object.fromEntries(
      Object.entries(agent.params).map(([key, value]) => [
        key,
        typeof value === "string" ? value : [...value],
      ]),
    ),
    credentials: [...sources.stage(inRun.credentials)],
    env: { ...agent.local.env },
    hooks: { pre: [...agent.hooks.pre], post: [...agent.hooks.post] },
    timeoutSeconds: agent.timeoutSeconds,
    trigger,
    payload: trigger.kind === "webhook" ? sources.payload(trigger.event.receiptId) : null,
    workDir,
    network: trusting(inRun.authority, network),
    channel: await sources.channel(request),
  };
}

function trusting(authority: string | null, network: Job["network"]): Job["network"] {
  if (authority === null) return network;
  return { ...(network ?? noNetwork), authority };
}

const noNetwork = { variables: {}, certificates: null };

/** In the order to try. A model that can't be used goes along with the reason: the run warns of it and takes others. */
async function jobModels(agent: AgentConfig, sources: JobSources): Promise<JobModel[]> {
  const ordered = sources.orderModels(modelsOfRuns(agent));
  const tried = await Promise.all(ordered.map((model) => jobModel(model, sources)));
  if (tried.some(({ problem }) => problem === undefined)) return tried;
  throw new UserError("no_model", noModel(tried));
}

function noModel(tried: readonly JobModel[]): string {
  const problems = tried.map(({ name, problem = "" }) => `${JSON.stringify(name)}: ${problem}`);
  const [only, ...others] = problems;
  if (others.length === 0) return `model ${only ?? ""}`;
  return `no model can be used: ${problems.join("; ")}`;
}

/** The model as runs get it: without what is secret, and with `problem` when it can't be used. */
async function jobModel(model: ModelConfig, sources: ModelSources): Promise<JobModel> {
  const problem = await modelProblem(model, sources);
  const entries = Object.entries(model).filter(([key]) => !outside.includes(key));
  const settings = Object.fromEntries(entries) as unknown as JobModel;
  return problem === null ? settings : { ...settings, problem };
}

const outside: readonly string[] = outsideOfRuns;
