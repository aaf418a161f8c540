import type { Engine } from "../../runners/container/engine.ts";
import { instanceLabel, projectLabel } from "../../runners/container/labels.ts";
import { ticketSchema } from "../../wire/remote-protocol.ts";
import { createChecked } from "../checked.ts";
import type { ClusterEngine, Launch, PlacedRun } from "../cluster-engine.ts";
import { hostAndPortOf } from "../host-and-port.ts";
import { askEngine, assertManager, unlessRefused } from "./ask-engine.ts";
import { ensureRelay, relayAlias, type SwarmOptions } from "./ensure-relay.ts";
import { labelsOf, runService } from "./run-service.ts";
import { placedRuns } from "./swarm-tasks.ts";
import type { SwarmMember, SwarmSecret, SwarmService, SwarmTask } from "./swarm-tasks.ts";

/** A secret of this age without a service is left from a failed start, in ms. */
const orphanMs = 60_000;

/** Runs as services of a Docker Swarm, by any of its managers. */
export function createSwarmEngine(options: SwarmOptions): ClusterEngine {
  const { engine, project } = options;
  const shared = createChecked(async () => {
    await assertManager(engine);
    await ensureRelay(options);
  });
  const ask = <T>(work: () => Promise<T>) =>
    askEngine(engine, work).catch((error: unknown) => {
      shared.forget();
      throw error;
    });
  return {
    ready: () => ask(shared.ensure),
    start: (launch) => ask(() => start(launch, options)),
    remove: (name) => ask(() => remove(engine, name)),
    list: () => ask(() => list(engine, project)),
  };
}

/** A failed start leaves no run behind. */
async function start(launch: Launch, { engine, project, loginFor }: SwarmOptions): Promise<void> {
  try {
    const secret = (await engine.calls().createSecret({
      Name: launch.name,
      Labels: labelsOf(launch, project),
      Data: Buffer.from(ticketOf(launch)).toString("base64"),
    })) as { readonly id: string };
    const login = await loginFor(launch.image);
    // An empty login is passed, too: without one the client would take the service for it.
    await engine.calls().createService(login ?? {}, runService(launch, project, secret.id));
  } catch (error) {
    await remove(engine, launch.name).catch(() => undefined);
    throw error;
  }
}

/** The ticket of a run. A closed one reaches the door only by the relay, which listens on the door's port. */
function ticketOf({ ticket, limits }: Launch): string {
  if (limits.network !== "none") return ticket;
  const { door, ...rest } = ticketSchema.parse(JSON.parse(ticket));
  return JSON.stringify({ ...rest, door: `${relayAlias}:${hostAndPortOf(door).port}` });
}

/** The service first: a secret that is used can't be removed. */
async function remove(engine: Engine, name: string): Promise<void> {
  await unlessRefused([404], engine.calls().getService(name).remove());
  await unlessRefused([404], engine.calls().getSecret(name).remove());
}

async function list(engine: Engine, project: string): Promise<readonly PlacedRun[]> {
  const filters = { label: [`${projectLabel}=${project}`, instanceLabel] };
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
