import { createHash } from "node:crypto";
import type { ContainerCreateOptions } from "dockerode";
import { engineMessage, statusOf } from "../../runners/container/engine.ts";
import type { Engine } from "../../runners/container/engine.ts";
import { command as program, containerUser } from "../../runners/container/image/dockerfile.ts";
import { projectLabel } from "../../runners/container/labels.ts";
import { relayAlias } from "../relay-door.ts";
import { createContainer } from "./create-container.ts";
import type { CreateContext } from "./create-container.ts";

/** The network of a project's closed runs, in which is the relay and no way out. */
export const closedNetwork = (project: string) => `al-${project.slice(0, 8)}`;
const relayName = (project: string) => `${closedNetwork(project)}-door`;

/** What the relay was made from; another value replaces it. */
const relayLabel = "al.relay";
const relayMemoryBytes = 256 * 1024 * 1024;

export interface RelayOptions {
  readonly project: string;
  /** `host:port` of the door. */
  readonly address: string;
  /** Has the program. */
  readonly image: string;
  /** The relay's program instead of `al _door-relay`. */
  readonly command?: readonly string[];
}

/** Makes the network and starts the relay, where they are not there as they should be. */
export async function ensureClosedBridge(
  context: CreateContext,
  options: RelayOptions,
): Promise<void> {
  const { engine } = context;
  const { project } = options;
  await ensureNetwork(engine, project);
  const spec = relayContainer(options);
  const there = await inspected(engine, relayName(project));
  if (there !== null && there.isRunning && there.label === spec.Labels[relayLabel]) return;
  await removed(engine, relayName(project));
  await createContainer(context, spec);
  // Its way out; in the closed network there is none.
  await engine
    .calls()
    .getNetwork("bridge")
    .connect({ Container: relayName(project) });
  await engine.calls().getContainer(relayName(project)).start();
}

async function ensureNetwork(engine: Engine, project: string): Promise<void> {
  const name = closedNetwork(project);
  const there = await engine.calls().listNetworks({ filters: { name: [name] } });
  if (there.some(({ Name }) => Name === name)) return;
  try {
    await engine.calls().createNetwork({
      Name: name,
      Driver: "bridge",
      Internal: true,
      CheckDuplicate: true,
      // The engine's machine has no address in it.
      Options: { "com.docker.network.bridge.inhibit_ipv4": "true" },
      Labels: { [projectLabel]: project },
    });
  } catch (error) {
    // Another scheduler of the project was faster.
    if (statusOf(error) !== 409 && !/already exists/.test(engineMessage(error))) throw error;
  }
}

function relayContainer({ project, address, image, command }: RelayOptions) {
  const [file = "", ...args] = command ?? [program, "_door-relay", address];
  const closed = closedNetwork(project);
  const spec: ContainerCreateOptions = {
    name: relayName(project),
    Image: image,
    Entrypoint: [file],
    Cmd: args,
    User: `${containerUser.uid}:${containerUser.gid}`,
    Env: ["HOME=/nonexistent", "LANG=C.UTF-8"],
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      Memory: relayMemoryBytes,
      PidsLimit: 64,
      ReadonlyRootfs: true,
      SecurityOpt: ["no-new-privileges"],
      CapDrop: ["ALL"],
      Init: true,
      NetworkMode: closed,
      RestartPolicy: { Name: "unless-stopped" },
      LogConfig: { Type: "json-file", Config: { "max-size": "1m", "max-file": "1" } },
    },
    NetworkingConfig: { EndpointsConfig: { [closed]: { Aliases: [relayAlias] } } },
  };
  const made = createHash("sha256").update(JSON.stringify(spec)).digest("hex").slice(0, 16);
  return { ...spec, Labels: { [projectLabel]: project, [relayLabel]: made } };
}

async function inspected(engine: Engine, name: string) {
  try {
    const { Config, State } = await engine.calls().getContainer(name).inspect();
    return { label: Config.Labels[relayLabel], isRunning: State.Running };
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

async function removed(engine: Engine, name: string): Promise<void> {
  try {
    await engine.calls().getContainer(name).remove({ force: true, v: true });
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
  }
}
