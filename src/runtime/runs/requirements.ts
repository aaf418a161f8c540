import { modelsOfRuns } from "../../foundation/contracts/model-defaults.ts";
import { auditTime, buffer, concatMap, filter, from, map, merge, mergeMap, share } from "rxjs";
import type { Observable } from "rxjs";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { runtimes } from "../../../streams/runtimes.ts";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import type { Diagnostic, RunEvent } from "../../../streams/vocabulary.ts";
import { loadCredential } from "../../foundation/credentials/load-credential.ts";
import { reasonOf } from "../../foundation/errors.ts";
import { readScriptFile } from "../../features/models/scripted.ts";
import { commandProblem, type CommandProblem } from "./harness-command.ts";
import { isOwnUser } from "../wire/supervisor-process.ts";
import { userExists } from "../wire/user-exists.ts";
import { modelProblem, type ModelProblem, type ModelSources } from "./model-calls.ts";
import type { RefusedKeys } from "./refused-keys.ts";

/** The sources of a run's requirements, beside its agent's files. */
export interface RequirementSources extends ModelSources {
  readonly command: (agent: AgentConfig) => Promise<CommandProblem | null>;
  /** Whether an OS user exists. */
  readonly user: (name: string) => Promise<boolean>;
}

/**
 * The unmet requirements of the agent's runs: an error stops them, a warning does not. An agent disabled by its `scale`
 * has none.
 */
export async function unmetRequirements(
  agent: AgentConfig,
  sources: RequirementSources,
): Promise<readonly Diagnostic[]> {
  if (agent.scale === 0) return [];
  const unmet = await Promise.all([
    unmetCredentials(agent, sources),
    unmetMcp(agent, sources),
    unmetModels(agent, sources),
    unmetCommand(agent, sources),
    unmetUser(agent, sources),
  ]);
  return unmet.flat();
}

/** Begins a check of several agents, which reads each credential and each script once. */
export function requirementCheck(
  home: string,
  env: NodeJS.ProcessEnv,
  { refusalOf }: RefusedKeys,
): (agent: AgentConfig) => Promise<readonly Diagnostic[]> {
  const once = <T>(read: (key: string) => Promise<T>): ((key: string) => Promise<T>) => {
    const known = new Map<string, Promise<T>>();
    return (key) => {
      const value = known.get(key) ?? read(key);
      known.set(key, value);
      return value;
    };
  };
  const sources: RequirementSources = {
    credential: once((reference) => loadCredential(home, reference)),
    script: once(readScriptFile),
    refusalOf,
    command: (agent) => commandProblem(agent, env),
    user: once((name) => userExists(name, env)),
  };
  return (agent) => unmetRequirements(agent, sources);
}

async function unmetCredentials(agent: AgentConfig, { credential }: RequirementSources) {
  const ofWorkspace = agent.workspace?.credential ?? null;
  const all = new Set([...agent.credentials, ...(ofWorkspace === null ? [] : [ofWorkspace])]);
  const reasons = await Promise.all(
    [...all].map((reference) => credential(reference).then(() => null, reasonOf)),
  );
  return reasons
    .filter((reason) => reason !== null)
    .map((reason) => problem("error", configOf(agent), reason));
}

/** A missing credential of an MCP server costs runs the tools of that server. */
async function unmetMcp(agent: AgentConfig, { credential }: RequirementSources) {
  const unmet = await Promise.all(
    agent.mcp.map(async ({ name, credential: reference }) => {
      if (reference === null) return null;
      const reason = await credential(reference).then(() => null, reasonOf);
      return reason === null ? null : `runs have no tools of the MCP server ${name}: ${reason}`;
    }),
  );
  return unmet
    .filter((reason) => reason !== null)
    .map((reason) => problem("warning", configOf(agent), reason));
}

async function unmetModels(agent: AgentConfig, sources: RequirementSources) {
  const models = modelsOfRuns(agent);
  const problems = await Promise.all(
    models.map((model) => modelProblem(model, sources).catch(brokenModel)),
  );
  const usable = models.find((_model, index) => problems[index]?.isPassing !== false);
  return models.flatMap(({ name }, index): Diagnostic[] => {
    const found = problems[index] ?? null;
    if (found === null) return [];
    const { reason, isPassing, isRefusal } = found;
    const unusable = `model ${JSON.stringify(name)} can't be used`;
    const shared = `${unusable}: ${reason}`;
    if (isPassing) return [{ ...problem("warning", "config.toml", shared), shared }];
    const all = isRefusal ? { shared } : {};
    if (usable === undefined) return [{ ...problem("error", "config.toml", shared), ...all }];
    const instead = index === 0 ? `, so runs use ${JSON.stringify(usable.name)}` : "";
    return [{ ...problem("warning", "config.toml", `${unusable}${instead}: ${reason}`), ...all }];
  });
}

function brokenModel(error: unknown): ModelProblem {
  return { reason: reasonOf(error), isPassing: false, isRefusal: false };
}

async function unmetCommand(agent: AgentConfig, { command }: RequirementSources) {
  const found = await command(agent);
  if (found === null) return [];
  const severity = found.isCertain ? "error" : "warning";
  return [problem(severity, configOf(agent), `${found.reason}; ${found.hint}`)];
}

async function unmetUser(agent: AgentConfig, { user }: RequirementSources) {
  const { type, runAs } = agent.runtime;
  if (!runtimes[type].runsAsUser || isOwnUser(runAs) || (await user(runAs))) return [];
  const text = `run_as of [runtime] names an unknown OS user, ${JSON.stringify(runAs)}`;
  const fix = "al doctor creates it, or shows how";
  return [problem("error", configOf(agent), `${text}; ${fix}`)];
}

function configOf({ name }: AgentConfig): string {
  return `agents/${name}/config.toml`;
}

function problem(severity: Diagnostic["severity"], file: string, message: string): Diagnostic {
  return { severity, file, line: null, column: null, message };
}

export interface RequirementDeps {
  readonly agent: (name: string) => AgentRecord | undefined;
  readonly agents: () => Iterable<AgentRecord>;
  /** Begins a check of several agents, which reads shared sources once. */
  readonly check: () => (config: AgentConfig) => Promise<readonly Diagnostic[]>;
  readonly now: () => number;
}

/** A start loads all agents at once: they are checked together, after this time in ms. */
const gatherMs = 20;

/**
 * Emits the unmet requirements of agents whenever they differ from the agent's records. An agent is checked when its
 * config is set and when a run of it was rejected. `check$` checks all agents when credentials changed (true),
 * otherwise those with unmet requirements.
 */
export function requirementEvents(
  event$: Observable<RunEvent>,
  check$: Observable<boolean>,
  deps: RequirementDeps,
): Observable<RunEvent> {
  const name$ = merge(
    event$.pipe(
      filter((event) => mayDiffer(event, deps)),
      map(({ agent }) => agent),
    ),
    check$.pipe(mergeMap((all) => namesOf(deps.agents(), all))),
  ).pipe(share());
  return name$.pipe(
    buffer(name$.pipe(auditTime(gatherMs))),
    concatMap((names) => from(checked([...new Set(names)], deps))),
    mergeMap((events) => events),
  );
}

function mayDiffer(event: RunEvent, { agent }: RequirementDeps): boolean {
  if (event.type === "agent-set") return true;
  if (event.type === "finished" && event.end.outcome === "rejected") return true;
  return event.type === "started" && (agent(event.agent)?.unmet.length ?? 0) > 0;
}

function namesOf(agents: Iterable<AgentRecord>, all: boolean): readonly string[] {
  return [...agents].flatMap(({ name, unmet }) => (all || unmet.length > 0 ? [name] : []));
}

async function checked(
  names: readonly string[],
  { agent, check, now }: RequirementDeps,
): Promise<readonly RunEvent[]> {
  const unmetOf = check();
  const events = await Promise.all(
    names.map(async (name): Promise<readonly RunEvent[]> => {
      const { config = null } = agent(name) ?? {};
      if (config === null) return [];
      const unmet = await unmetOf(config);
      // An agent that changed meanwhile is checked again, a removed one is not.
      const record = agent(name);
      if (record?.config !== config || isSame(record.unmet, unmet)) return [];
      return [{ type: "agent-requirements", agent: name, at: now(), unmet }];
    }),
  );
  return events.flat();
}

function isSame(a: readonly Diagnostic[], b: readonly Diagnostic[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
