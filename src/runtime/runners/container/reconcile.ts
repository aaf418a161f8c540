import type { ContainerInfo } from "dockerode";
import { statusOf, type Engine } from "./engine.ts";
import { instanceLabel, projectId, projectLabel } from "./labels.ts";
import { removeContainer } from "./stop-container.ts";

export type Reconciler = ReturnType<typeof createReconciler>;

/** Finds containers left on the engine by an earlier scheduler of the project, by their labels. */
export function createReconciler(engine: Engine, projectDir: string) {
  // An agent's image has the project's label too, and so has any container that a person starts from it.
  const containers = async (): Promise<ContainerInfo[]> => {
    await engine.ping();
    const label = [`${projectLabel}=${projectId(projectDir)}`, instanceLabel];
    return engine.calls().listContainers({ all: true, filters: { label } });
  };
  return {
    /** The instances whose container can be followed. Rejects if the engine cannot be reached. */
    find: async (): Promise<readonly string[]> => {
      const found = await containers();
      const followed = await Promise.all(found.map(({ Id }) => canFollow(engine, Id)));
      return found.filter((_, index) => followed[index]).map(instanceOf);
    },
    /**
     * Removes the project's containers of all other runs. `keep` is called after the containers were listed, so that a
     * run started meanwhile is safe. Returns the removed instances; rejects without an engine.
     */
    reap: async (keep: () => ReadonlySet<string>): Promise<readonly string[]> => {
      const found = await containers();
      const live = keep();
      const others = found.filter((info) => !live.has(instanceOf(info)));
      await Promise.all(others.map(({ Id }) => removeContainer(engine, Id)));
      return others.map(instanceOf);
    },
  };
}

function instanceOf({ Labels }: ContainerInfo): string {
  return Labels[instanceLabel] ?? "";
}

/**
 * Whether a container, by id or name, exists and was started. One without any output can't be followed: it is unknown
 * whether its job reached it.
 */
export async function canFollow(engine: Engine, id: string): Promise<boolean> {
  const container = engine.calls().getContainer(id);
  try {
    const { State } = await container.inspect();
    // The engine writes the year 1 for a container that was never started.
    if (!(Date.parse(State.StartedAt) > 0)) return false;
    return (await container.logs({ stdout: true, stderr: true, tail: 1 })).length > 0;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw error;
  }
}
