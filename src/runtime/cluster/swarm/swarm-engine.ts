import type { Engine } from "../../runners/container/engine.ts";
import { instanceLabel } from "../../runners/container/labels.ts";
import type { ClusterEngine, Launch, PlacedRun } from "../cluster-engine.ts";
import {
  assertManager,
  createDockerCalls,
  isWithoutLeader,
  unlessRefused,
} from "../docker/ask-engine.ts";
import type { DockerOptions } from "../docker/ask-engine.ts";
import { labelsOf, runsOf, ticketOf } from "../docker/relay.ts";
import { ensureRelay } from "./ensure-relay.ts";
import { runService } from "./run-service.ts";
import { placedRuns } from "./swarm-tasks.ts";
import type { SwarmMember, SwarmSecret, SwarmService, SwarmTask } from "./swarm-tasks.ts";

/** A secret of this age without a service is left from a failed start, in ms. */
const orphanMs = 60_000;

/** Runs as services of a Docker Swarm, by any of its managers. */
export function createSwarmEngine(options: DockerOptions): ClusterEngine {
  const { engine, project } = options;
  return createDockerCalls(
    engine,
    {
      ensure: async () => {
        await assertManager(engine);
        await ensureRelay(options);
      },
      start: (launch) => start(launch, options),
      remove: (name) => remove(engine, name),
      list: () => list(engine, project),
    },
    isWithoutLeader,
  );
}

async function start(launch: Launch, { engine, project, loginFor }: DockerOptions): Promise<void> {
  const secret = (await engine.calls().createSecret({
    Name: launch.name,
    Labels: labelsOf(launch, project),
    Data: Buffer.from(ticketOf(launch)).toString("base64"),
  })) as { readonly id: string };
  const login = await loginFor(launch.image);
  // An empty login is passed, too: without one the client would take the service for it.
  await engine.calls().createService(login ?? {}, runService(launch, project, secret.id));
}

/** The service first: a secret that is used can't be removed. */
async function remove(engine: Engine, name: string): Promise<void> {
  await unlessRefused([404], engine.calls().getService(name).remove());
  await unlessRefused([404], engine.calls().getSecret(name).remove());
}

async function list(engine: Engine, project: string): Promise<readonly PlacedRun[]> {
  const filters = runsOf(project);
  const calls = engine.calls();
  const [services, tasks, members, secrets] = (await Promise.all([
    calls.listServices({ filters }),
    calls.listTasks({ filters }),
    calls.listNodes(),
    calls.listSecrets({ filters }),
  ])) as unknown as [SwarmService[], SwarmTask[], SwarmMember[], SwarmSecret[]];
  return [...placedRuns({ services, tasks, members }), ...orphans(secrets, services)];
}

/** Left by a start between its two requests: removed with the runs that no scheduler knows. */
function orphans(
  secrets: readonly SwarmSecret[],
  services: readonly SwarmService[],
): readonly PlacedRun[] {
  const names = new Set(services.map(({ Spec }) => Spec.Name));
  const before = Date.now() - orphanMs;
  return secrets
    .filter(({ Spec, CreatedAt }) => !names.has(Spec.Name) && Date.parse(CreatedAt) < before)
    .map(({ Spec }) => ({
      name: Spec.Name,
      instanceId: Spec.Labels[instanceLabel] ?? "",
      state: "ended" as const,
      node: null,
      problem: null,
      endings: 0,
    }));
}
