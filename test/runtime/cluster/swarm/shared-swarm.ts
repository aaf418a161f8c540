import type { Engine } from "../../../../src/runtime/runners/container/engine.ts";
import type { TestSwarm } from "../../../helpers/swarm/swarm.ts";

/** One Swarm of three nodes for all tests of a file, since to start one takes as long as they do. */
export interface SharedSwarm {
  readonly swarm: TestSwarm;
  /** The machine's own engine, which is in no Swarm. */
  readonly machine: Engine;
  /** Image with this checkout's program, which every node has. */
  readonly image: string;
}
