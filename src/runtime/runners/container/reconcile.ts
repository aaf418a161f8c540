import type { ContainerInfo } from "dockerode";
import { statusOf } from "./engine.ts";
import type { Engine } from "./engine.ts";
import { agentLabel, instanceLabel, projectId, projectLabel } from "./labels.ts";
import { removeContainer } from "./stop-container.ts";

/** A run of an earlier scheduler whose container is there: it still runs, or its end can still be read. */
export interface FoundContainer {
  readonly instanceId: string;
  readonly agent: string;
  readonly containerId: string;
  /** When the container was started, epoch ms. */
  readonly startedAt: number;
}

export interface Reconciler {
  /**
   * The project's runs that can be resumed. A container without any output is not among them: it is unknown
   * whether its job reached it. `only` asks for one instance. Rejects when the engine cannot be reached.
   */
  find(only?: string): Promise<readonly FoundContainer[]>;
  /**
   * Removes the project's containers of all other runs. `keep` is asked after the containers were listed, so that
   * a run which starts meanwhile is safe. Returns the instance ids that were removed; rejects without an engine.
   */
  reap(keep: () => ReadonlySet<string>): Promise<readonly string[]>;
}

/** Finds what an earlier scheduler of the project left on the engine, by its labels. */
export function createReconciler(engine: Engine, projectDir: string): Reconciler {
  const project = projectId(projectDir);
  return {
    find: async (only) => {
      await engine.ping();
      const containers = await containersOf(engine, project, only);
      const found = await Promise.all(containers.map((info) => foundRun(engine, info)));
      return found.filter((run) => run !== null);
    },
    reap: async (keep) => {
      await engine.ping();
      const containers = await containersOf(engine, project);
      const kept = keep();
      const others = containers.filter(({ Labels }) => !kept.has(Labels[instanceLabel] ?? ""));
      await Promise.all(others.map(({ Id }) => removeContainer(engine, Id)));
      return others.map(({ Labels }) => Labels[instanceLabel] ?? "");
    },
  };
}

/** An agent's image has the project's label too, and so has whatever a person starts from it. */
function containersOf(engine: Engine, project: string, only?: string): Promise<ContainerInfo[]> {
  const instance = only === undefined ? instanceLabel : `${instanceLabel}=${only}`;
  const label = [`${projectLabel}=${project}`, instance];
  return engine.calls().listContainers({ all: true, filters: { label } });
}

async function foundRun(
  engine: Engine,
  { Id, Labels }: ContainerInfo,
): Promise<FoundContainer | null> {
  const container = engine.calls().getContainer(Id);
  try {
    const { State } = await container.inspect();
    const startedAt = Date.parse(State.StartedAt);
    // The engine writes the year 1 for a container that was never started.
    if (!(startedAt > 0)) return null;
    const output = await container.logs({ stdout: true, stderr: true, tail: 1 });
    if (output.length === 0) return null;
    const { [instanceLabel]: instanceId = "", [agentLabel]: agent = "" } = Labels;
    return { instanceId, agent, containerId: Id, startedAt };
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}
