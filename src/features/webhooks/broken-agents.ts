import type { RunEvent } from "../../../streams/vocabulary.ts";
import type { MatchResult } from "./match-index.ts";

const maxNamed = 3;

/** Remembers agents with an invalid config, for the reason of a delivery that started nothing. */
export function createBrokenAgents() {
  /** Sources of the last valid config, which stays active. */
  const active = new Map<string, readonly string[]>();
  /** Sources that the invalid config names. */
  const broken = new Map<string, readonly string[]>();
  return {
    onEvent: (event: RunEvent): void => {
      if (event.type === "agent-set") {
        active.set(
          event.agent,
          event.config.webhooks.map(({ source }) => source),
        );
        broken.delete(event.agent);
      }
      if (event.type === "agent-invalid") broken.set(event.agent, event.sources);
      if (event.type === "agent-removed") {
        active.delete(event.agent);
        broken.delete(event.agent);
      }
    },
    /** The result; a reason why nothing ran names the agents of the source that could not be matched. */
    explain: (source: string, result: MatchResult): MatchResult => {
      if (result.reason === null || broken.size === 0) return result;
      const names = [...broken.keys()].sort();
      const old = names.filter((name) => active.get(name)?.includes(source));
      const none = names.filter(
        (name) => !old.includes(name) && broken.get(name)?.includes(source),
      );
      const more = [
        ...(none.length === 0 ? [] : [`with an invalid config, so not asked: ${some(none)}`]),
        ...(old.length === 0 ? [] : [`asked with the last valid config: ${some(old)}`]),
      ];
      return { ...result, reason: [result.reason, ...more].join("; ") };
    },
  };
}

function some(found: readonly string[]): string {
  const more = found.length - maxNamed;
  return `agent ${found.slice(0, maxNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
