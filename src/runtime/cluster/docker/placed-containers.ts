import { statusOf } from "../../runners/container/engine.ts";
import type { Engine } from "../../runners/container/engine.ts";
import { instanceLabel, projectLabel } from "../../runners/container/labels.ts";
import type { PlacedRun } from "../cluster-engine.ts";

const overStates = new Set(["exited", "dead", "removing"]);

/** The project's runs, by their containers. */
export async function placedContainers(
  engine: Engine,
  project: string,
): Promise<readonly PlacedRun[]> {
  const label = [`${projectLabel}=${project}`, instanceLabel];
  const containers = await engine.calls().listContainers({ all: true, filters: { label } });
  if (containers.length === 0) return [];
  const node = await machineName(engine);
  const runs = containers.map(async ({ Id, Names, Labels, State }) => {
    const [name = ""] = Names.map((each) => each.replace(/^\//, ""));
    const common = { name, instanceId: Labels[instanceLabel] ?? "", node, problem: null };
    // Its ticket goes to it as it starts, so one that was not started waits for nothing.
    if (State === "created") return { ...common, state: "ended" as const, endings: 0 };
    if (!overStates.has(State)) return { ...common, state: "running" as const, endings: 0 };
    return { ...common, state: "ended" as const, endings: 1, ...(await ending(engine, Id)) };
  });
  return Promise.all(runs);
}

async function ending(engine: Engine, id: string): Promise<Partial<PlacedRun>> {
  try {
    const { State } = await engine.calls().getContainer(id).inspect();
    const { ExitCode: exitCode, OOMKilled: outOfMemory, Error: reason } = State;
    const code = exitCode === 0 ? null : `its process ended with exit code ${exitCode}`;
    return { exitCode, outOfMemory, problem: reason === "" ? code : reason };
  } catch (error) {
    // It was removed meanwhile.
    if (statusOf(error) === 404) return { exitCode: null };
    throw error;
  }
}

/** The name of the engine's machine, for people. */
export async function machineName(engine: Engine): Promise<string> {
  const { Name } = (await engine.calls().info()) as { readonly Name: string };
  return Name;
}
