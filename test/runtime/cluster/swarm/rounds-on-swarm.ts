import { engineSetupMs } from "../../../helpers/docker.ts";
import { isLong } from "../../../helpers/long.ts";
import { forAll, type LiveProject } from "../../../helpers/live-project.ts";
import type { SwarmNode } from "../../../helpers/swarm/node.ts";
import { befall } from "./chaos.ts";
import { createRounds } from "../rounds.ts";
import { roundsProject } from "../rounds-project.ts";
import { witness, type Witness } from "../witness.ts";
import type { SharedSwarm } from "./shared-swarm.ts";

/** By hand: AL_SWARM_ROUNDS=100 AL_SWARM_RUNS=100. */
const rounds = Number(process.env.AL_SWARM_ROUNDS ?? (isLong ? 10 : 0));
const runsAtFirst = Number(process.env.AL_SWARM_RUNS ?? (isLong ? 12 : 6));
const firstSeed = Number(process.env.AL_SWARM_SEED ?? 1);
const turns = 4;
const agents = ["ada", "ben", "cleo"];
const leaseSeconds = 20;
const doorPort = 7443;
/** For all runs that wait, those that are lost, and their second attempts. */
const quietMs = 180_000 + runsAtFirst * 3_000;

interface SwarmService {
  readonly Spec: { readonly Labels: Readonly<Record<string, string>> };
}

/** `al start` with a Swarm. */
export function roundsOnSwarm(shared: () => SharedSwarm): void {
  let model: Witness;
  let project: LiveProject;
  const { spread, play } = createRounds({
    project: () => project,
    model: () => model,
    agents,
    turns,
    quietMs,
  });

  forAll(async () => {
    const { swarm, image } = shared();
    model = await witness(turns, 600);
    const address = `${swarm.host}:${doorPort}`;
    const options = { address, image, agents, leaseSeconds };
    project = await roundsProject({ engine: "swarm", baseUrl: model.baseUrl, ...options });
    await project.start({ env: { DOCKER_HOST: node(0).dockerHost } });
  }, engineSetupMs);
  afterAll(async () => {
    await project.scheduler.kill();
    await model.close();
  });

  const node = (index: number) => shared().swarm.nodes[index] as SwarmNode;

  /** Of a node that was killed while Swarm removed them: Swarm never looks for them again. */
  async function pruneEnded(): Promise<void> {
    const filters = { label: ["al.project"] };
    await Promise.all(
      shared().swarm.nodes.map(({ engine }) => engine.calls().pruneContainers({ filters })),
    );
  }

  async function nothingLeft(): Promise<void> {
    for (const each of shared().swarm.nodes) {
      const names = async () => {
        const containers = await each.engine.calls().listContainers({ all: true });
        return containers
          .map(({ Names, Status }) => `${Names[0]}: ${Status}`)
          .filter((name) => !/-door\./.test(name));
      };
      await expect.poll(names, { timeout: 60_000, interval: 500 }).toEqual([]);
    }
    expect(await node(0).engine.calls().listSecrets()).toEqual([]);
    // The other tests of the Swarm have a relay of their own.
    const services = (await node(0).engine.calls().listServices()) as readonly SwarmService[];
    const own = services.filter(({ Spec }) => Spec.Labels["al.project"] !== "project1");
    expect(own).toHaveLength(1);
  }

  test(
    `has ${runsAtFirst} runs of al start, spread over the nodes`,
    async () => {
      const places = await spread(runsAtFirst);
      expect([...new Set(places)].toSorted()).toEqual(["n1", "n2", "n3"]);
      await nothingLeft();
    },
    quietMs + 60_000,
  );

  test.runIf(rounds > 0)(
    `loses and repeats no output of al start silently in ${rounds} rounds of faults`,
    async () => {
      const { swarm } = shared();
      await play({
        firstSeed,
        count: rounds,
        nodes: swarm.nodes.length,
        leaseMs: leaseSeconds * 1_000,
        befall: async (round) => {
          await befall(swarm, round);
          await swarm.settled(120_000);
        },
      });
      await pruneEnded();
      await nothingLeft();
    },
    rounds * 120_000 + quietMs,
  );
}
