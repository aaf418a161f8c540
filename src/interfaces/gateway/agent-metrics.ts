import { Counter, Gauge } from "prom-client";
import type { Registry } from "prom-client";
import { outcomes } from "../../../streams/vocabulary.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";

/** The metrics of single agents, in one registry. */
function metersIn(registry: Registry) {
  const registers = [registry];
  const byOutcome = (name: string, help: string) =>
    new Counter({ name, help, registers, labelNames: ["agent", "outcome"] });
  const total = (name: string, help: string) =>
    new Counter({ name, help, registers, labelNames: ["agent"] });
  const current = (name: string, help: string) =>
    new Gauge({ name, help, registers, labelNames: ["agent"] });
  return {
    runs: byOutcome("almanac_runs_total", "Runs that are over, by agent and outcome."),
    refused: byOutcome(
      "almanac_not_run_total",
      "Triggers that never became a run (skipped, missed, dropped, rejected), by agent and outcome.",
    ),
    dropped: total(
      "almanac_queue_dropped_total",
      "Work items pushed out of an agent's full queue.",
    ),
    running: current("almanac_running_runs", "Runs that are going now, by agent."),
    queued: current("almanac_queue_depth", "Work items that wait, by agent."),
    tokens: total("almanac_tokens_total", "Tokens that runs used, by agent."),
    cost: total("almanac_cost_usd_total", "What runs cost in US dollars, by agent."),
  };
}

type Meters = ReturnType<typeof metersIn>;

const runChange: Partial<Record<RunEvent["type"], number>> = { started: 1, finished: -1 };

/** Counts by agent. */
export interface AgentMetrics {
  onEvent(event: RunEvent): void;
  /** Gives agents that came since the last time their zeros: a counter that begins at one hides its first increase. */
  beforeReading(): void;
}

/** Counts by agent. An agent's series end with the agent, or with its last run after that: `onGone` drops others. */
export function agentMetrics(registry: Registry, onGone: (agent: string) => void): AgentMetrics {
  const meters = metersIn(registry);
  const known = new Set<string>();
  // Not at once: thousands of agents come when the scheduler starts, and perhaps their metrics are never read.
  const fresh = new Set<string>();
  const running = new Map<string, number>();
  return {
    onEvent: (event) => {
      const { agent, type } = event;
      if (type === "output" || type === "status-text") return;
      if ((type === "agent-set" || type === "agent-invalid") && !known.has(agent)) {
        known.add(agent);
        fresh.add(agent);
      }
      if (type === "agent-removed") known.delete(agent);
      const now = (running.get(agent) ?? 0) + (runChange[type] ?? 0);
      if (now > 0) running.set(agent, now);
      else running.delete(agent);
      count(event, meters, now);
      if (known.has(agent) || now > 0) return;
      fresh.delete(agent);
      drop(agent, meters);
      onGone(agent);
    },
    beforeReading: () => {
      for (const agent of fresh) appear(agent, meters);
      fresh.clear();
    },
  };
}

/** Adding nothing leaves what was counted already as it is. */
function appear(agent: string, meters: Meters): void {
  const { runs, refused, ...others } = meters;
  for (const outcome of ["succeeded", "failed"]) runs.inc({ agent, outcome }, 0);
  refused.inc({ agent, outcome: "skipped" }, 0);
  for (const meter of Object.values(others)) meter.inc({ agent }, 0);
}

function count(event: RunEvent, meters: Meters, running: number): void {
  const { agent } = event;
  switch (event.type) {
    case "started":
      return meters.running.set({ agent }, running);
    case "queue-depth":
      return meters.queued.set({ agent }, event.depth);
    case "refused":
      meters.refused.inc({ agent, outcome: event.outcome });
      if (event.outcome === "dropped") meters.dropped.inc({ agent });
      return;
    case "finished": {
      const { outcome, usage } = event.end;
      meters.running.set({ agent }, running);
      meters.runs.inc({ agent, outcome });
      meters.tokens.inc({ agent }, amount(usage?.tokens));
      meters.cost.inc({ agent }, amount(usage?.costUsd));
      return;
    }
    default:
  }
}

/** A run may report any number, and a counter throws at one below zero. */
function amount(value: number | null | undefined): number {
  return value !== null && value !== undefined && Number.isFinite(value) && value > 0 ? value : 0;
}

function drop(agent: string, { runs, refused, ...others }: Meters): void {
  for (const outcome of outcomes) {
    runs.remove({ agent, outcome });
    refused.remove({ agent, outcome });
  }
  for (const meter of Object.values(others)) meter.remove({ agent });
}
