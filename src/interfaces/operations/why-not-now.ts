import { blockedError, unmetError } from "../../../streams/status/agent-record.ts";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import type { LockStatus } from "../../../streams/status/wire.ts";
import { counted } from "../../foundation/contracts/format.ts";

/** The project around an agent. */
export interface ProjectNow {
  readonly paused: boolean;
  /** Runs of all agents now, and how many there may be; null for any number. */
  readonly running: number;
  readonly scale: number | null;
  readonly locks: readonly LockStatus[];
}

/** What keeps an agent from running now, or its runs from going on: a sentence each, the first is the one to see to. */
export function whyNotNow(agent: AgentRecord, project: ProjectNow): string[] {
  const reasons = [...ownReasons(agent), ...reasonsToWait(agent, project)];
  const given = reasons.filter(([holds]) => holds).map(([, text]) => text);
  return [...given, ...lockTexts(agent.name, project.locks)];
}

type Reason = readonly [holds: boolean, text: string];

function ownReasons(agent: AgentRecord): readonly Reason[] {
  const { config, enabled, configError, buildError, building, unmet } = agent;
  return [
    [config === null, `It has no valid config: ${configError ?? "see al doctor"}`],
    [config?.scale === 0, "It is disabled by scale = 0 in its config.toml."],
    [!enabled, `It is disabled: al resume ${agent.name} enables it.`],
    [unmetError(unmet) !== null, `Its runs lack something: ${unmetError(unmet) ?? ""}`],
    [building, "Its image is being built: work waits."],
    [buildError !== null, `Its image could not be built: ${buildError ?? ""}`],
    [blockedError(agent) !== null, `It goes on by itself, but ${blockedError(agent) ?? ""}`],
  ];
}

function reasonsToWait(agent: AgentRecord, project: ProjectNow): readonly Reason[] {
  const { config, running, queued } = agent;
  const isFull = config !== null && config.scale > 0 && running >= config.scale;
  const isProjectFull = project.scale !== null && project.running >= project.scale;
  return [
    [project.paused && config?.schedule != null, "The scheduler is paused: ticks are skipped."],
    [agent.usedBudget !== null, budgetText(agent.usedBudget)],
    [isFull, `${running} of ${config?.scale ?? 0} runs are going: work waits, ticks are skipped.`],
    [isProjectFull, `The project runs as many as it may (${project.scale ?? 0}): work waits.`],
    [queued > 0, `${counted(queued, "work item")} in its queue.`],
  ];
}

function budgetText(used: AgentRecord["usedBudget"]): string {
  if (used === null) return "";
  const { scope, usd, limit, endsAt, onLimit } = used;
  const whose = scope === "project" ? "The project's budget" : "Its budget";
  const until = new Date(endsAt).toISOString();
  const work = onLimit === "pause" ? "work waits" : "work is refused";
  return `${whose} is used up ($${usd.toFixed(2)} of $${limit.toFixed(2)}): ${work} until ${until}.`;
}

function lockTexts(agent: string, locks: readonly LockStatus[]): string[] {
  return locks
    .filter((lock) => lock.agent === agent && !lock.held)
    .map(({ instanceId, resource }) => {
      const holder = locks.find((lock) => lock.held && lock.resource === resource);
      return `${instanceId} waits for the lock ${resource}, held by ${holder?.instanceId ?? "no run"}.`;
    });
}
