import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { SwarmNode } from "../../../helpers/swarm/node.ts";
import type { TestSwarm } from "../../../helpers/swarm/swarm.ts";
import { runLimits } from "./swarm-project.ts";

/** Looks at every run's limits, where the kernel of its node has them. */
export interface LimitsWatch {
  /** How many runs each node had. */
  readonly seen: ReadonlyMap<string, number>;
  /** Of runs that were not held to their limits. */
  readonly problems: readonly string[];
  stop(): Promise<void>;
}

export function watchLimits(swarm: TestSwarm): LimitsWatch {
  const counts = new Map<string, number>();
  const problems: string[] = [];
  const known = new Set<string>();
  const stopped = new AbortController();
  const look = async (node: SwarmNode) => {
    const containers = await node.engine.calls().listContainers();
    for (const { Id, Names } of containers) {
      const [name = ""] = Names;
      if (known.has(Id) || /-door\./.test(name)) continue;
      const limits = limitsOf(node, Id);
      if (limits === null) continue;
      known.add(Id);
      counts.set(node.name, (counts.get(node.name) ?? 0) + 1);
      if (!isDeepStrictEqual(limits, runLimits))
        problems.push(`${name}: ${JSON.stringify(limits)}`);
    }
  };
  const watching = (async () => {
    while (!stopped.signal.aborted) {
      // A node may be away.
      await Promise.all(swarm.nodes.map((node) => look(node).catch(() => undefined)));
      await wait(200);
    }
  })();
  return { seen: counts, problems, stop: () => (stopped.abort(), watching) };
}

/** Null when it has ended meanwhile. */
function limitsOf(node: SwarmNode, container: string) {
  try {
    return node.limits(container);
  } catch {
    return null;
  }
}
