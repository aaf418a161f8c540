import type { WebhookBinding } from "../../../streams/agent-config.ts";
import { indexedBinding, reasonsAgainst } from "./binding-index.ts";
import type { MatchInput } from "./binding-index.ts";

/** Whether an event starts an agent, and what stops it where it doesn't. */
export interface Verdict {
  readonly agent: string;
  readonly starts: boolean;
  /** For each `[[webhooks]]` entry that listens to the source, the conditions that stopped it; empty when one lets it through. */
  readonly stoppedBy: readonly (readonly string[])[];
}

/**
 * Asks one agent about one event, with every condition of every entry. Null when the agent does not listen to the
 * source. The match index asks the same, and explains only what came closest.
 */
export function explain(
  agent: { readonly name: string; readonly webhooks: readonly WebhookBinding[] },
  source: string,
  event: MatchInput,
): Verdict | null {
  const entries = agent.webhooks.filter((binding) => binding.source === source);
  if (entries.length === 0) return null;
  const reasons = entries.map((entry) => reasonsAgainst(indexedBinding(agent.name, entry), event));
  const starts = reasons.some((against) => against.length === 0);
  return { agent: agent.name, starts, stoppedBy: starts ? [] : reasons };
}
