import { type Outcome, outcomeRows } from "../../../../streams/outcomes.ts";
import { needsImage } from "../../../../streams/agent-config.ts";
import { problemSummary } from "../../../../streams/problem-text.ts";
import { isRetried, isDeadLetter } from "../../../../streams/vocabulary.ts";
import type { Diagnostic, RunEvent, WorkItem } from "../../../../streams/vocabulary.ts";
import type { Faults } from "./faults.ts";
import { plainFault, reasonLine } from "./records.ts";

/** A run that has ended. */
export interface EndedRun {
  readonly item: WorkItem;
  readonly instanceId: string;
  readonly outcome: Outcome;
  readonly reason: string | null;
  readonly costUsd: number | null;
  /** Whether its work is tried again. */
  readonly isRetried: boolean;
  /** Whether it failed for its model's key, which is alerted once for all agents. */
  readonly isKeyRefused?: boolean;
}

/** Turns events of agents into faults. */
export function createAgentAlerts({
  faults,
  now,
}: {
  readonly faults: Faults;
  readonly now: () => number;
}) {
  const disabled = new Set<string>();
  const unscaled = new Set<string>();
  /** Problems that agents share, by agent. */
  const shared = new Map<string, readonly string[]>();
  /** Runs that the machine can't start, by agent. */
  const blocked = new Map<string, Set<string>>();
  const set = (agent: string): void =>
    faults.set(agent, !disabled.has(agent) && !unscaled.has(agent));

  /** Reports the fault with a reason, clears it without one. */
  const decide = (
    agent: string,
    topic: "config" | "image" | "credentials" | "blocked",
    reason: string | null,
  ): void => {
    if (reason === null) faults.clear(agent, topic);
    else faults.fail(agent, topic, plainFault(reasonLine(reason)));
  };
  /** One fault of the project for the problems that agents share. */
  const share = (agent: string, problems: readonly string[]): void => {
    if (problems.length === 0 && !shared.delete(agent)) return;
    if (problems.length > 0) shared.set(agent, problems);
    const all = [...new Set([...shared.values()].flat())];
    decide("", "credentials", all.length === 0 ? null : all.join("; "));
  };
  const onConfig = (event: ConfigEvent): void => {
    const { agent } = event;
    switch (event.type) {
      case "agent-set":
        mark(unscaled, agent, event.config.scale === 0);
        set(agent);
        decide(agent, "config", null);
        if (!needsImage(event.config)) decide(agent, "image", null);
        return;
      case "agent-invalid":
        set(agent);
        return decide(agent, "config", errorsOf(event.problems) ?? "invalid config");
      case "agent-enabled":
        mark(disabled, agent, !event.enabled);
        return set(agent);
      case "agent-removed":
        share(agent, []);
        mark(unscaled, agent, false);
        mark(disabled, agent, false);
        return faults.forget(agent);
    }
  };

  const onBlocked = (agent: string, instanceId: string, reason: string | null): void => {
    const runs = blocked.get(agent) ?? new Set();
    if (reason === null && !runs.delete(instanceId)) return;
    if (reason !== null) runs.add(instanceId);
    if (runs.size > 0) blocked.set(agent, runs);
    else blocked.delete(agent);
    if (reason !== null || runs.size === 0) decide(agent, "blocked", reason);
  };

  const deadLetter = ({ agent }: WorkItem, reason: string | null): void =>
    faults.occur(agent, "dead_letters", reasonLine(reason), now());
  const onEnd = (run: EndedRun): void => {
    const { item, outcome, reason, instanceId, costUsd } = run;
    if (outcome === "succeeded") return faults.succeed(item.agent);
    if (run.isRetried || run.isKeyRefused) return;
    // It did not start because of a problem that is alerted already.
    if (outcome === "rejected" && shared.has(item.agent)) return;
    const fault = { reason: reasonLine(reason), outcome, instanceId, costUsd };
    if (isFailure(item, outcome)) faults.fail(item.agent, "runs", fault);
    if (isDeadLetter(item, outcome)) deadLetter(item, reason);
  };
  const onRefused = ({ item, outcome, reason }: Refused): void => {
    if (outcomeRows[outcome].isDeadLetter && !isWithdrawn(item, outcome)) {
      deadLetter(item, reason);
    }
  };

  return {
    onEnd,
    onEvent: (event: RunEvent): void => {
      switch (event.type) {
        case "agent-set":
        case "agent-invalid":
        case "agent-enabled":
        case "agent-removed":
          return onConfig(event);
        case "agent-requirements":
          share(
            event.agent,
            event.unmet.flatMap((one) => one.shared ?? []),
          );
          return decide(
            event.agent,
            "credentials",
            errorsOf(event.unmet.filter((one) => one.shared === undefined)),
          );
        case "build-finished":
          return decide(event.agent, "image", event.error);
        case "refused":
          return onRefused(event);
        case "missed":
          return faults.occur(event.agent, "missed_ticks", reasonLine(event.reason), now());
        case "blocked":
          return onBlocked(event.agent, event.instanceId, event.reason);
        case "finished":
          onBlocked(event.agent, event.instanceId, null);
          return onEnd(endedRun(event));
        default:
      }
    },
  };
}

type ConfigEvent = Extract<
  RunEvent,
  { type: "agent-set" | "agent-invalid" | "agent-enabled" | "agent-removed" }
>;
type Refused = Extract<RunEvent, { type: "refused" }>;

function endedRun({ item, instanceId, end }: Extract<RunEvent, { type: "finished" }>): EndedRun {
  const { outcome, reason, usage, isKeyRefused = false } = end;
  const costUsd = usage?.costUsd ?? null;
  const run = { item, instanceId, outcome, reason, costUsd, isKeyRefused };
  return { ...run, isRetried: isRetried(item, end) };
}

function mark(agents: Set<string>, agent: string, isMarked: boolean): void {
  if (isMarked) agents.add(agent);
  else agents.delete(agent);
}

function errorsOf(problems: readonly Diagnostic[]): string | null {
  return problemSummary(problems.filter(({ severity }) => severity === "error"));
}

/** A tick that can't start is not asked for again by its sender, so it counts as a run that failed. */
function isFailure({ trigger }: WorkItem, outcome: Outcome): boolean {
  return outcome === "rejected" ? trigger.kind === "cron" : outcomeRows[outcome].kind === "failure";
}

/** The call was to end with its caller, which has ended: no work is missing. */
function isWithdrawn({ trigger }: WorkItem, outcome: Outcome): boolean {
  return outcome === "rejected" && trigger.kind === "agent-call" && trigger.cancelOnExit;
}
