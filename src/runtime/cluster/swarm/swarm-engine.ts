import type { AuthConfig } from "dockerode";
import type { ClusterConfig } from "../../../foundation/contracts/cluster.ts";
import { statusOf } from "../../runners/container/engine.ts";
import type { Engine } from "../../runners/container/engine.ts";
import { instanceLabel, projectLabel } from "../../runners/container/labels.ts";
import type { ClusterEngine, Launch, PlacedRun } from "../cluster-engine.ts";
import { ticketByRelay } from "../relay-door.ts";
import { whileAway } from "../while-away.ts";
import { ensureRelay } from "./ensure-relay.ts";
import { relayService } from "./relay-service.ts";
import { labelsOf, runService } from "./run-service.ts";
import { askSwarm, assertManager } from "./ask-swarm.ts";
import { ensureNetworks } from "./swarm-networks.ts";
import { placedRuns } from "./swarm-tasks.ts";
import type { SwarmMember, SwarmSecret, SwarmService, SwarmTask } from "./swarm-tasks.ts";

export interface SwarmEngineOptions {
  readonly engine: Engine;
  /** Tells the project from others of the Swarm, also of other machines: at least 8 lower-case letters and digits. */
  readonly project: string;
  readonly config: Pick<ClusterConfig, "address" | "subnet">;
  /** Name of an image that has the program. */
  readonly programImage: () => Promise<string>;
  /** What nodes log in with to pull an image; undefined for nothing. */
  readonly loginFor: (image: string) => Promise<AuthConfig | undefined>;
  /** The relay's program instead of `al _door-relay`. */
  readonly relayCommand?: readonly string[];
}

/** How long a check of the shared resources stays valid, in ms. */
const sureMs = 30_000;
/** A secret of this age without a service is left from a start that failed, in ms. */
const orphanMs = 60_000;

/** Runs as services of a Docker Swarm, by any of its managers. */
export function createSwarmEngine(options: SwarmEngineOptions): ClusterEngine {
  const { engine, project } = options;
  const shared = sharedParts(options);
  const ask = <T>(work: () => Promise<T>) =>
    askSwarm(engine, work).catch((error: unknown) => {
      // It may have come back without what runs share.
      shared.forget();
      throw error;
    });
  return {
    ready: () => whileAway(() => ask(shared.ensure)),
    start: async (launch) => {
      try {
        await whileAway(() => ask(() => start(launch, options)));
      } catch (error) {
        await remove(engine, launch.name).catch(() => undefined);
        throw error;
      }
    },
    remove: (name) => ask(() => remove(engine, name)),
    list: () => ask(() => list(engine, project)),
  };
}

/** Networks and relay: made by the first that needs them, and made sure of from time to time. */
function sharedParts(options: SwarmEngineOptions) {
  const { engine, project, config, programImage, loginFor, relayCommand } = options;
  let sure: { readonly image: string; readonly until: number } | null = null;
  let running: Promise<void> | null = null;
  const ensure = async () => {
    await assertManager(engine);
    const image = await programImage();
    if (sure?.image === image && performance.now() < sure.until) return;
    await ensureNetworks(engine, project, config.subnet);
    const relay = { project, address: config.address, image };
    const spec = relayService({ ...relay, ...(relayCommand && { command: relayCommand }) });
    await ensureRelay(engine, spec, (await loginFor(image)) ?? {});
    sure = { image, until: performance.now() + sureMs };
  };
  return {
    ensure: () => (running ??= ensure().finally(() => (running = null))),
    forget: () => (sure = null),
  };
}

/** What is there already was made by a try whose answer was lost: no other run has the name. */
async function start(launch: Launch, options: SwarmEngineOptions): Promise<void> {
  const { engine, project, loginFor } = options;
  const spec = runService(launch, { project, secretId: await secretOf(launch, options) });
  const login = await loginFor(launch.image);
  // Never without a login: the client then takes the service itself for one.
  await unless(409, engine.calls().createService(login ?? {}, spec));
}

/** Resolves to the id of the secret that has the run's ticket. */
async function secretOf(launch: Launch, { engine, project }: SwarmEngineOptions): Promise<string> {
  const isClosed = launch.limits.network === "none";
  const ticket = isClosed ? ticketByRelay(launch.ticket) : launch.ticket;
  const secret = {
    Name: launch.name,
    Labels: labelsOf(launch, project),
    Data: Buffer.from(ticket).toString("base64"),
  };
  await unless(409, engine.calls().createSecret(secret));
  const { ID } = (await engine.calls().getSecret(launch.name).inspect()) as { readonly ID: string };
  return ID;
}

/** The service first: a secret that is used can't be removed. */
async function remove(engine: Engine, name: string): Promise<void> {
  await unless(404, engine.calls().getService(name).remove());
  await unless(404, engine.calls().getSecret(name).remove());
}

/** The engine may refuse it with this status. */
async function unless(refusal: number, answer: Promise<unknown>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    if (statusOf(error) !== refusal) throw error;
  }
}

async function list(engine: Engine, project: string): Promise<readonly PlacedRun[]> {
  const label = [`${projectLabel}=${project}`, instanceLabel];
  const filters = { label };
  const calls = engine.calls();
  const [services, tasks, members, secrets] = (await Promise.all([
    calls.listServices({ filters }),
    calls.listTasks({ filters }),
    calls.listNodes(),
    calls.listSecrets({ filters }),
  ])) as unknown as [SwarmService[], SwarmTask[], SwarmMember[], SwarmSecret[]];
  return [...placedRuns({ services, tasks, members }), ...orphans(secrets, services)];
}

/** Left from a start between its two requests: removed with the runs that no scheduler knows. */
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
