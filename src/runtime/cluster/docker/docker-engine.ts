import type { AuthConfig } from "dockerode";
import type { ClusterConfig } from "../../../foundation/contracts/cluster.ts";
import { UserError } from "../../../foundation/errors.ts";
import { engineMessage, isUnreachable, statusOf } from "../../runners/container/engine.ts";
import type { Engine } from "../../runners/container/engine.ts";
import type { ClusterEngine, Launch } from "../cluster-engine.ts";
import { ticketByRelay } from "../relay-door.ts";
import { ensureClosedBridge } from "./closed-bridge.ts";
import { createContainer } from "./create-container.ts";
import { machineName, placedContainers } from "./placed-containers.ts";
import { whileAway } from "../while-away.ts";
import { runContainer } from "./run-container.ts";

export interface DockerEngineOptions {
  /** On another machine: by ssh or TCP. */
  readonly engine: Engine;
  /** Tells the project from others of the engine, also of other machines: at least 8 lower-case letters and digits. */
  readonly project: string;
  readonly config: Pick<ClusterConfig, "address">;
  /** Name of an image that has the program. */
  readonly programImage: () => Promise<string>;
  readonly loginFor: (image: string) => Promise<AuthConfig | undefined>;
  /** The relay's program instead of `al _door-relay`. */
  readonly relayCommand?: readonly string[];
}

/** How long a check of the shared resources stays valid, in ms. */
const sureMs = 30_000;

/** Runs as containers of an engine on another machine. */
export function createDockerEngine(options: DockerEngineOptions): ClusterEngine {
  const { engine, project, config, programImage, relayCommand } = options;
  let sureUntil = 0;
  let preparing: Promise<void> | null = null;
  const prepare = async () => {
    if (performance.now() < sureUntil) return;
    await engine.ping();
    const relay = { project, address: config.address, image: await programImage() };
    await ensureClosedBridge(options, { ...relay, ...(relayCommand && { command: relayCommand }) });
    sureUntil = performance.now() + sureMs;
  };
  const asked = <T>(work: () => Promise<T>) =>
    ask(engine, work).catch((error: unknown) => {
      // It may have come back without what runs share.
      sureUntil = 0;
      throw error;
    });
  return {
    ready: () =>
      whileAway(() => asked(() => (preparing ??= prepare().finally(() => (preparing = null))))),
    start: (launch) =>
      asked(async () => {
        try {
          await start(launch, options);
        } catch (error) {
          await remove(engine, launch.name).catch(() => undefined);
          throw error;
        }
      }),
    remove: (name) => asked(() => remove(engine, name)),
    list: () => asked(() => placedContainers(engine, project)),
  };
}

/** Rejects with a UserError, `engine_unreachable` while the engine is away. */
async function ask<T>(engine: Engine, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UserError) throw error;
    // Its error has what to do.
    if (isUnreachable(error)) await engine.ping();
    const message = `the engine at ${engine.address()} refused it: ${engineMessage(error)}`;
    throw new UserError("engine_refused", message, { cause: error });
  }
}

/** The ticket is written once the container reads: before its start it would be lost. */
async function start(launch: Launch, options: DockerEngineOptions): Promise<void> {
  const { engine, project } = options;
  const spec = runContainer(launch, project, await machineName(engine));
  await createContainer(options, spec);
  const container = engine.streams().getContainer(launch.name);
  const input = await container.attach({ stream: true, stdin: true, hijack: true });
  input.on("error", () => undefined);
  await engine.calls().getContainer(launch.name).start();
  const isClosed = launch.limits.network === "none";
  input.end(`${isClosed ? ticketByRelay(launch.ticket) : launch.ticket}\n`);
}

async function remove(engine: Engine, name: string): Promise<void> {
  try {
    await engine.calls().getContainer(name).remove({ force: true, v: true });
  } catch (error) {
    // 409: another client of the engine is removing it.
    if (![404, 409].includes(statusOf(error) ?? 0)) throw error;
  }
}
