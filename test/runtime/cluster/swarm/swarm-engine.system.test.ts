import { engineSetupMs, testBase, testEngine } from "../../../helpers/docker.ts";
import { programImage } from "../../../helpers/swarm/program-image.ts";
import { startSwarm } from "../../../helpers/swarm/swarm.ts";
import { engineOnSwarm } from "./engine-on-swarm.ts";
import { roundsOnSwarm } from "./rounds-on-swarm.ts";
import type { SharedSwarm } from "./shared-swarm.ts";

const { engine: machine, missing } = await testEngine();

describe.skipIf(missing !== null)("a Swarm of three nodes", () => {
  let shared: SharedSwarm;
  beforeAll(async () => {
    const image = await programImage(machine);
    const swarm = await startSwarm(3, { from: machine, images: [testBase, image] });
    shared = { swarm, machine, image };
  }, engineSetupMs);
  afterAll(() => shared.swarm.stop());
  const get = () => shared;

  roundsOnSwarm(get);
  describe("as an engine", () => engineOnSwarm(get));
});
