import { testEngine } from "../helpers/docker.ts";
import type { LiveCluster } from "../helpers/kubernetes/live-cluster.ts";
import { forAll, type LiveProject } from "../helpers/live-project.ts";
import { programImage } from "../helpers/swarm/program-image.ts";
import { createRounds } from "../runtime/cluster/rounds.ts";
import { roundsProject } from "../runtime/cluster/rounds-project.ts";
import { witness, type Witness } from "../runtime/cluster/witness.ts";
import { befall, faults } from "./chaos.ts";
import { nothingLeft, preparedCluster } from "./live-side.ts";

/** By hand: AL_ROUNDS=100, from AL_SEED on. */
const rounds = Number(process.env.AL_ROUNDS ?? 3);
const firstSeed = Number(process.env.AL_SEED ?? 1);
const runsAtFirst = 6;
const turns = 4;
const agents = ["ada", "ben", "cleo"];
const leaseSeconds = 20;
const doorPort = 7443;
const quietMs = 240_000;

let cluster: LiveCluster;
let model: Witness;
let project: LiveProject;
const { spread, play } = createRounds({
  project: () => project,
  model: () => model,
  agents,
  turns,
  quietMs,
});
const start = () => project.start({ env: { KUBECONFIG: cluster.kubeconfig("almanac") } });

forAll(async () => {
  const image = await programImage((await testEngine()).engine);
  cluster = await preparedCluster([image]);
  model = await witness(turns, 600);
  const address = `${cluster.host}:${doorPort}`;
  const options = { address, image, agents, leaseSeconds };
  project = await roundsProject({ engine: "kubernetes", baseUrl: model.baseUrl, ...options });
  await start();
}, 300_000);
afterAll(async () => {
  await project.scheduler.kill();
  await cluster.stop();
  await model.close();
});

test(
  `al start with a Kubernetes of two nodes runs ${runsAtFirst} runs, spread over the nodes`,
  async () => {
    const places = await spread(runsAtFirst);
    expect(new Set(places)).toEqual(new Set(["n1", "n2"]));
    await nothingLeft(cluster);
  },
  quietMs + 60_000,
);

test(
  `al start with a Kubernetes of two nodes loses and repeats no output silently in ${rounds} rounds of faults`,
  async () => {
    await play({
      faults,
      firstSeed,
      count: rounds,
      nodes: cluster.nodes.length,
      leaseMs: leaseSeconds * 1_000,
      befall: async (round) => {
        await befall(cluster, round, async () => {
          await project.scheduler.kill();
          return start;
        });
        await cluster.settled(120_000);
      },
    });
    await nothingLeft(cluster);
  },
  rounds * 120_000 + quietMs,
);
