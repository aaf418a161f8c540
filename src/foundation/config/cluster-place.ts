import type { ClusterEngineName } from "../contracts/cluster.ts";
import { formatValue } from "./format-value.ts";

/** A rule about the machines of each engine that has several. */
export const placeExample = { swarm: "node.labels.agents==yes", kubernetes: "agents=yes" } as const;

const forms = {
  swarm: {
    pattern: /^(?:node|engine)\.[\w.-]+\s*(?:==|!=)\s*\S+$/,
    what: "a constraint of a Swarm",
  },
  kubernetes: {
    pattern: /^(?:[a-z0-9.-]+\/)?[A-Za-z0-9][\w.-]{0,62}=[\w.-]{0,63}$/,
    what: "a label of Kubernetes' nodes",
  },
} as const;

/** Why the engine can't place runs by this rule; null when it can. */
export function placeProblem(engine: ClusterEngineName, rule: string): string | null {
  if (engine === "docker") {
    return `place has ${formatValue(rule)}, but the engine docker is one machine; leave place out`;
  }
  const { pattern, what } = forms[engine];
  if (pattern.test(rule)) return null;
  return `place has ${formatValue(rule)}; expected ${what}, e.g. ${formatValue(placeExample[engine])}`;
}
