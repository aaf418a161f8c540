import { join } from "node:path";
import { connectEngine } from "../../../src/runtime/runners/container/engine.ts";
import { cgroupParent, kernelLimits, type KernelLimits } from "./cgroups.ts";
import type { OwnProcess } from "../own-process.ts";
import { startEngineProcess } from "./engine-process.ts";
import type { SharedLayers } from "./images.ts";
import type { SwarmNetwork } from "./network.ts";
import type { Slot } from "./slot.ts";

export interface NodeOptions {
  readonly slot: Slot;
  readonly network: SwarmNetwork;
  /** Counts from 1. */
  readonly number: number;
  readonly layers: SharedLayers;
}

export const dataDirOf = (slot: Slot, number: number) => join(slot.dir, `n${number}`, "data");

/** A node that has not been started. */
export function createNode({ slot, network, number, layers }: NodeOptions) {
  const dir = join(slot.dir, `n${number}`);
  const name = `n${number}`;
  const dockerHost = `unix://${join(dir, "docker.sock")}`;
  const parent = `--cgroup-parent=${cgroupParent(slot.number, number)}`;
  const place = { dir, networkNamespace: network.namespace(number), hostname: name, layers };
  let running: OwnProcess | null = null;
  return {
    /** The node's name in the Swarm. */
    name,
    address: network.address(number),
    engine: connectEngine({ env: { DOCKER_HOST: dockerHost } }),
    /** For DOCKER_HOST. */
    dockerHost,
    /** As a power cut does: the engine and every container on it end at once. */
    kill: async () => {
      const killed = running;
      running = null;
      await killed?.kill();
    },
    /** Starts the engine with the data that it had. */
    boot: async () => {
      running = await startEngineProcess({ ...place, args: [parent] });
    },
    /** Takes the cable out; what runs there runs on. */
    partition: () => network.connect(number, false),
    heal: () => network.connect(number, true),
    /** What the kernel holds a container to. */
    limits: (container: string): KernelLimits => kernelLimits(slot.number, number, container),
  };
}

/** A node of a test's Swarm: an engine with a network and processes of its own, on this machine. */
export type SwarmNode = ReturnType<typeof createNode>;
