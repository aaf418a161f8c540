import { projectLabel } from "../../runners/container/labels.ts";
import { engineMessage, statusOf } from "../../runners/container/engine.ts";
import type { Engine } from "../../runners/container/engine.ts";

/** The networks of a project's closed runs: `closed` is theirs, `outside` that of the relay alone. */
export function networkNames(project: string) {
  const closed = `al-${project.slice(0, 8)}`;
  return { closed, outside: `${closed}-out` };
}

/** Makes both where they are missing. One that is there is kept as it is: runs may be in it. */
export async function ensureNetworks(
  engine: Engine,
  project: string,
  subnet: string,
): Promise<void> {
  const { closed, outside } = networkNames(project);
  const Labels = { [projectLabel]: project };
  const common = { Driver: "overlay", CheckDuplicate: true, Labels };
  const there = await engine.calls().listNetworks({ filters: { name: [closed] } });
  const isThere = (name: string) => there.some(({ Name }) => Name === name);
  if (!isThere(closed)) {
    const IPAM = { Config: [{ Subnet: subnet }] };
    await created(engine, { ...common, Name: closed, Internal: true, IPAM });
  }
  if (!isThere(outside)) await created(engine, { ...common, Name: outside });
}

type Network = Parameters<ReturnType<Engine["calls"]>["createNetwork"]>[0];

async function created(engine: Engine, network: Network): Promise<void> {
  try {
    await engine.calls().createNetwork(network);
  } catch (error) {
    // Another scheduler of the project was faster.
    if (statusOf(error) === 409 || /already exists/.test(engineMessage(error))) return;
    throw error;
  }
}
