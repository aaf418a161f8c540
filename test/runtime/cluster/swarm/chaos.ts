import { pause } from "../../../helpers/pause.ts";
import type { SwarmNode } from "../../../helpers/swarm/node.ts";
import type { TestSwarm } from "../../../helpers/swarm/swarm.ts";
import type { Round } from "../rounds.ts";

/** Resolves once the node is as it was before. */
export async function befall(
  swarm: TestSwarm,
  { fault, node: index, forMs }: Round,
): Promise<void> {
  const node = swarm.nodes[index] as SwarmNode;
  const lasting = () => pause(forMs, `the node is ${fault} so long`);
  switch (fault) {
    case "killed":
      await node.kill();
      await lasting();
      return node.boot();
    case "drained":
      await setAvailability(swarm, node, "drain");
      await lasting();
      return setAvailability(swarm, node, "active");
    default:
      node.partition();
      await lasting();
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
