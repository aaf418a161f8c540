import type { Alert, AlertTopic } from "../../../foundation/contracts/alert.ts";

/** The command that a person types next, where there is one: a link may lead nowhere from a phone. */
const commands: Partial<Record<AlertTopic, (agent: string | null) => string>> = {
  runs: (agent) => `al logs ${agent}`,
  no_success: (agent) => `al history --agent ${agent}`,
  config: () => "al doctor",
  image: (agent) => `al logs ${agent}`,
  credentials: () => "al doctor",
  blocked: () => "al doctor",
  missed_ticks: (agent) => `al history --outcome missed --agent ${agent}`,
  dead_letters: (agent) => `al history --dead-letter --agent ${agent}`,
  budget: (agent) => `al budget raise ${agent ?? "project"} <usd>`,
};

/** What a person does about an alert; null when there is nothing left to do. */
export function nextStep({ topic, phase, agent, count }: Alert): string | null {
  if (phase === "resolved" || (topic === "budget" && count < 100)) return null;
  return commands[topic]?.(agent) ?? null;
}
