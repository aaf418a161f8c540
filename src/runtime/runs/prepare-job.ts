import { questionLimits } from "../../foundation/contracts/question-kinds.ts";
import { checkoutPlan } from "../../features/workspace/checkout-plan.ts";
import { modelsOfRuns } from "../../foundation/contracts/model-defaults.ts";
import { harnesses } from "../../../streams/harnesses.ts";
import type { AgentConfig, ModelConfig, ScheduleEntry } from "../../../streams/agent-config.ts";
import type { RunRequest, Trigger } from "../../../streams/vocabulary.ts";
import { outsideOfRuns } from "../../foundation/contracts/job.ts";
import type {
  Job,
  JobCredential,
  JobFile,
  JobModel,
  JobTree,
} from "../../foundation/contracts/job.ts";
import { Problem } from "../../foundation/errors.ts";
import type { Brokering } from "../run-api/egress/broker/brokering.ts";
import { modelProblem, type ModelSources } from "./model-calls.ts";
import type { Credential } from "../../foundation/credentials/load-credential.ts";

/** The sources of a job. All reject with a Problem that names the missing part and has a hint. */
export interface JobSources extends ModelSources {
  /** Rejects if the command line of the agent's harness is certainly missing. */
  readonly checkCommand: (agent: AgentConfig) => Promise<void>;
  /** The credentials for the run: placeholders replace secrets that are inserted outside of the run. */
  readonly broker: Brokering["forRun"];
  /** Adds the environment variables, in the agent's order. */
  readonly stage: (credentials: readonly Credential[]) => readonly JobCredential[];
  /** The current files of an agent's skill beside SKILL.md. */
  readonly files: (agent: string) => Promise<readonly JobFile[]>;
  readonly trees: (request: RunRequest) => Promise<readonly JobTree[]>;
  readonly memory: (request: RunRequest) => Promise<Job["memory"]>;
  /** The body of an accepted webhook as text; null if retention deleted it. */
  readonly payload: (receiptId: string) => string | null;
  /** The accepted webhooks in order, as JSON, without those that retention deleted. */
  readonly deliveries: (receiptIds: readonly string[]) => string;
  /** The run whose session the run continues; undefined for a new session. */
  readonly continued: (request: RunRequest) => Job["continues"];
  /** Names the run's span; undefined if no spans are sent. */
  readonly traceparent: (request: RunRequest) => string | undefined;
  /** In the order to try. */
  readonly orderModels: (models: readonly ModelConfig[]) => readonly ModelConfig[];
  /** How an agent's runs reach the network; undefined if that is open, without proxies and certificates. */
  readonly network: (agent: AgentConfig) => Promise<Job["network"]>;
  /** The run's connection to the scheduler; null for a run of an earlier one, which has its own. */
  readonly channel: (request: RunRequest) => Promise<Job["channel"]>;
}

/** The whole input of a run, including secrets. Rejects if a requirement is missing; then it does not start. */
export async function prepareJob(
  request: RunRequest,
  workDir: string,
  sources: JobSources,
): Promise<Job> {
  const { agent, instanceId, item } = request;
  const [models, files, trees, memory, network, credentials] = await Promise.all([
    jobModels(agent, sources),
    sources.files(agent.name),
    sources.trees(request),
    sources.memory(request),
    sources.network(agent),
    Promise.all(agent.credentials.map((reference) => sources.credential(reference))),
    sources.checkCommand(agent),
  ]);
  const { trigger } = item;
  const entry = entryOf(trigger, agent);
  const plan = checkoutPlan(request);
  const inRun = await sources.broker(request, credentials);
  return {
    instanceId,
    agent: agent.name,
    title: agent.title,
    instructions: agent.instructions,
    files,
    harness: agent.harness,
    models,
    params: { ...agent.params, ...entry?.params },
    credentials: sources.stage(inRun.credentials),
    env: agent.local.env,
    hooks: agent.hooks,
    timeoutSeconds: agent.timeoutSeconds,
    ...(agent.mcp.length > 0 && { mcp: agent.mcp.map(mcpOfJob) }),
    valueSchema: agent.expect?.schema ?? undefined,
    ...(entry?.prompt != null && { schedulePrompt: entry.prompt }),
    trigger,
    continues: sources.continued(request),
    ...(agent.session?.maxTokens != null && { sessionTokens: agent.session.maxTokens }),
    traceparent: sources.traceparent(request),
    payload: trigger.kind === "webhook" ? sources.payload(trigger.event.receiptId) : null,
    ...gatheredOf(request, sources),
    ...(plan && { workspace: { dir: plan.dir, maxBytes: plan.maxBytes } }),
    ...(trees.length > 0 && { trees }),
    memory,
    workDir,
    network: trusting(inRun.authority, network),
    channel: await sources.channel(request),
  };
}

/** The `[[schedules]]` entry that started a run; undefined for others, and for one that was removed since. */
function entryOf(trigger: Trigger, { schedules }: AgentConfig): ScheduleEntry | undefined {
  const name = trigger.kind === "cron" ? trigger.schedule : undefined;
  return schedules.find((entry) => entry.name === name);
}

/** With `deliver = "all"`, a run has them all even if it gathered one only. */
function gatheredOf(
  { agent, item }: RunRequest,
  { deliveries }: JobSources,
): Pick<Job, "gathered"> {
  const { gathered, trigger } = item;
  if (trigger.kind !== "webhook") return {};
  const isWhole = agent.debounce?.deliver === "all";
  if (gathered === undefined && !isWhole) return {};
  const ids = gathered ?? [trigger.event.receiptId];
  return { gathered: { count: ids.length, deliveries: isWhole ? deliveries(ids) : null } };
}

/** Without the address and the credential. */
function mcpOfJob({ name, command, tools, timeoutSeconds }: AgentConfig["mcp"][number]) {
  return { name, command, tools, timeoutSeconds };
}

function trusting(authority: string | null, network: Job["network"]): Job["network"] {
  if (authority === null) return network;
  return { ...(network ?? noNetwork), authority };
}

const noNetwork = { variables: {}, certificates: null };

/** The models, in the order to try. An unusable one is included with the reason: the run warns and uses others. */
async function jobModels(agent: AgentConfig, sources: JobSources): Promise<JobModel[]> {
  const ordered = sources.orderModels(modelsOfRuns(agent));
  const tried = await Promise.all(ordered.map((model) => jobModel(model, sources)));
  if (tried.some(({ problem }) => problem === undefined)) return tried.map(patientIn(agent));
  throw new Problem("no_model", noModel(tried));
}

/** A command line waits at the model gateway while a person is asked to approve its spending. */
function patientIn({ harness, approve }: AgentConfig): (model: JobModel) => JobModel {
  const isHeld = harnesses[harness.type].startsCommand && (approve?.over ?? null) !== null;
  return isHeld
    ? (model) => ({ ...model, timeoutSeconds: questionLimits.defaultSeconds })
    : (model) => model;
}

function noModel(tried: readonly JobModel[]): string {
  const problems = tried.map(({ name, problem = "" }) => `${JSON.stringify(name)}: ${problem}`);
  const [only, ...others] = problems;
  if (others.length === 0) return `model ${only ?? ""}`;
  return `no model can be used: ${problems.join("; ")}`;
}

/** The model for runs: without its secret settings, and with `problem` if it can't be used. */
async function jobModel(model: ModelConfig, sources: ModelSources): Promise<JobModel> {
  const problem = await modelProblem(model, sources);
  const entries = Object.entries(model).filter(([key]) => !outside.includes(key));
  const settings = Object.fromEntries(entries) as unknown as JobModel;
  const isUsable = problem === null || problem.isPassing;
  return isUsable ? settings : { ...settings, problem: problem.reason };
}

const outside: readonly string[] = outsideOfRuns;
