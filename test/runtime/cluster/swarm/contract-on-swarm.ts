import { runName, type ClusterEngine } from "../../../../src/runtime/cluster/cluster-engine.ts";
import type { ClusterRunner } from "../../../../src/runtime/cluster/cluster-runner.ts";
import { createSwarmEngine } from "../../../../src/runtime/cluster/swarm/swarm-engine.ts";
import { runnerContract } from "../../runners/contract.ts";
import { clusterRig, type ClusterRig } from "../../../helpers/cluster-rig.ts";
import { engineSetupMs } from "../../../helpers/docker.ts";
import type { SwarmNode } from "../../../helpers/swarm/node.ts";
import { scriptOf } from "../../runners/shell-runs.ts";
import { aRequest } from "../support.ts";
import type { SharedSwarm } from "./shared-swarm.ts";

/** The promises of every runner, kept by the cluster runner on a Swarm. */
export function runnerContractOnSwarm(shared: () => SharedSwarm): void {
  let rig: ClusterRig;
  let engine: ClusterEngine;
  let runner: ClusterRunner;

  beforeAll(async () => {
    const { swarm, image } = shared();
    // The scheduler's door has an address once it listens.
    const late: ClusterEngine = {
      ready: () => engine.ready(),
      start: (launch) => engine.start(launch),
      remove: (name) => engine.remove(name),
      list: () => engine.list(),
    };
    rig = await clusterRig({ engine: late, host: swarm.host });
    runner = await rig.start({
      imageFor: () => Promise.resolve({ image, volumes: [] }),
      command: ({ agent: { name, title } }) => [
        "/usr/local/bin/al",
        "_remote-run",
        name,
        "--project",
        "/workspace",
        "--",
        "/bin/sh",
        "-c",
        scriptOf(title),
      ],
    });
    engine = createSwarmEngine({
      engine: (swarm.nodes[0] as SwarmNode).engine,
      project: "contract",
      config: { address: rig.configured({}).cluster?.().address ?? "", subnet: "10.214.0.0/16" },
      programImage: () => Promise.resolve(image),
      loginFor: () => Promise.resolve(undefined),
    });
    await engine.ready();
  }, engineSetupMs);
  afterAll(() => rig.dispose());

  const nowhere = { memory: null, cpus: null, network: "nowhere", env: {} };
  runnerContract("the cluster runner on a Swarm", () =>
    Promise.resolve({
      runner,
      request: (scenario) =>
        aRequest(scenario, scenario === "cannot-start" ? { local: nowhere } : {}),
      leftovers: async (id) => {
        // The node of a run that was removed has to be told.
        const deadline = performance.now() + 10_000;
        let left = await leftoversOf(id);
        while (left.length > 0 && performance.now() < deadline) left = await leftoversOf(id);
        return left;
      },
      dispose: () => Promise.resolve(),
    }),
  );

  async function leftoversOf(id: string): Promise<readonly string[]> {
    const filters = { label: [`com.docker.swarm.service.name=${runName(id)}`] };
    const lists = shared().swarm.nodes.map((node) =>
      node.engine.calls().listContainers({ filters }),
    );
    const runs = (await engine.list()).filter(({ instanceId }) => instanceId === id);
    return [
      ...(await Promise.all(lists)).flat().map(({ Id }) => Id),
      ...runs.map(({ name }) => name),
      ...(await rig.records.list()).filter((one) => one === id),
    ];
  }
}
