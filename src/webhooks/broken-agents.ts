import type { RunEvent } from "../../streams/vocabulary.ts";
import type { MatchResult } from "./match-index.ts";

const maxNamed = 3;

/** Remembers agents with an invalid config, for the reason of a delivery that started nothing. */
export function createBrokenAgents() {
  /** Those with an earlier valid config, which stays active. */
  const listening = new Set<string>();
  const broken = new Set<string>();
  return {
    onEvent: (event: RunEvent): void => {
      if (event.type === "agent-set") {
        listening.add(event.agent);
        broken.delete(event.agent);
      }
      if (event.type === "agent-invalid") broken.add(event.agent);
      if (event.type === "agent-removed") {
        listening.delete(event.agent);
        broken.delete(event.agent);
      }
    },
    /** The result; a reason why nothing ran names the agents that could not be matched. */
    explain: (result: MatchResult): MatchResult => {
      if (result.reason === null || broken.size === 0) return result;
      const old = some(broken, (name) => listening.has(name));
      const none = some(broken, (name) => !listening.has(name));
      const more = [
        ...(none === null ? [] : [`with an invalid config, so not asked: ${none}`]),
        ...(old === null ? [] : [`asked with the last valid config: ${old}`]),
      ];
      return { ...result, reason: [result.reason, ...more].join("; ") };
    },
  };
}

function some(names: ReadonlySet<string>, wanted: (name: string) => boolean): string | null {
  const found = [...names].filter(wanted).sort();
  if (found.length === 0) return null;
  const more = found.length - maxNamed;
  return `agent ${found.slice(0, maxNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
