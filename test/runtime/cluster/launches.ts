import { randomUUID } from "node:crypto";
import type {
  ClusterEngine,
  Launch,
  PlacedRun,
} from "../../../src/runtime/cluster/cluster-engine.ts";
import { runName } from "../../../src/runtime/cluster/cluster-engine.ts";
import { testBase } from "../../helpers/docker.ts";

/** Secrets that no client of the engine may see. */
export const secretTicket = "t1cket-that-is-worth-a-claim";

/** A run that is a shell script, in the base image. */
export function aLaunch(script: string, door: string, more: Partial<Launch> = {}): Launch {
  const instanceId = `dev-${randomUUID().slice(0, 8)}`;
  return {
    name: runName(instanceId),
    instanceId,
    agent: "dev",
    image: testBase,
    volumes: [],
    command: ["bash", "-c", script],
    env: { AL_INSTANCE: instanceId, TZ: "Europe/Oslo" },
    ticket: JSON.stringify({ door, certificate: "pem", name: "n", ticket: secretTicket }),
    limits: { memory: "96m", cpus: 0.5, network: "none" },
    reserve: { memory: "32m", cpus: 0.05 },
    place: [],
    ...more,
  };
}

/** The run as the engine lists it, once it is as expected. */
export async function placed(
  cluster: ClusterEngine,
  { instanceId }: Launch,
  expected: Partial<PlacedRun>,
): Promise<PlacedRun> {
  let found: PlacedRun | undefined;
  const look = async () => {
    found = (await cluster.list()).find((run) => run.instanceId === instanceId);
    return found;
  };
  await expect.poll(look, { interval: 200 }).toMatchObject(expected);
  if (found === undefined) throw new Error("the run is not there");
  return found;
}
