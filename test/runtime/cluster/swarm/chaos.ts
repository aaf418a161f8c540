import { setTimeout as wait } from "node:timers/promises";
import type { SwarmNode } from "../../../helpers/swarm/node.ts";
import type { TestSwarm } from "../../../helpers/swarm/swarm.ts";

/** What befalls a node of the Swarm. */
export const faults = [
  "killed",
  "cut off",
  "drained",
  "cut off for longer than the lease",
] as const;
export type Fault = (typeof faults)[number];

/** The same numbers for the same seed, between 0 and 1. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Round {
  readonly fault: Fault;
  /** Index of the node. */
  readonly node: number;
  /** So long after the start of the round's runs. */
  readonly afterMs: number;
  /** And so long. */
  readonly forMs: number;
}

export function roundOf(seed: number, nodes: number, leaseMs: number): Round {
  const random = seeded(seed);
  const fault = faults[Math.floor(random() * faults.length)] ?? "killed";
  const isLong = fault === "cut off for longer than the lease";
  return {
    fault,
    node: Math.floor(random() * nodes),
    afterMs: 500 + random() * 6_000,
    forMs: isLong ? leaseMs + 2_000 + random() * 4_000 : 500 + random() * (leaseMs / 2),
  };
}

/** Resolves once the node is as it was before. */
export async function befall(swarm: TestSwarm, { fault, node: index, forMs }: Round) {
  const node = swarm.nodes[index] as SwarmNode;
  switch (fault) {
    case "killed":
      await node.kill();
      await wait(forMs);
      return node.boot();
    case "drained":
      await setAvailability(swarm, node, "drain");
      await wait(forMs);
      return setAvailability(swarm, node, "active");
    default:
      node.partition();
      await wait(forMs);
      node.heal();
  }
}

interface Member {
  readonly ID: string;
  readonly Version: { readonly Index: number };
  readonly Spec: Readonly<Record<string, unknown>>;
  readonly Description: { readonly Hostname: string };
}

async function setAvailability(swarm: TestSwarm, { name }: SwarmNode, Availability: string) {
  const calls = (swarm.nodes[0] as SwarmNode).engine.calls();
  const members = (await calls.listNodes()) as readonly Member[];
  const member = members.find(({ Description }) => Description.Hostname === name);
  if (member === undefined) throw new Error(`${name} is no node`);
  const { Index: version } = member.Version;
  // The client of the engine has no types for it.
  const node = calls.getNode(member.ID) as { update(options: object): Promise<unknown> };
  await node.update({ _query: { version }, _body: { ...member.Spec, Availability } });
}
