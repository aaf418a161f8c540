import type { ContainerCreateOptions } from "dockerode";
import { UserError } from "../../../foundation/errors.ts";
import { engineMessage, statusOf, type Engine } from "../../runners/container/engine.ts";
import { ndjsonLines } from "../../runners/container/image/build.ts";
import { unlessRefused, type DockerOptions } from "./ask-engine.ts";
import {
  closedNetwork,
  ensureNetwork,
  ifThere,
  relay,
  relayLabels,
  relayName,
  relayProgram,
  smallLog,
} from "./relay.ts";

/** Creates the network and starts the relay, unless both exist as required. */
export async function ensureClosedBridge(options: DockerOptions): Promise<void> {
  const { engine, project } = options;
  await ensureNetwork(engine, project, {
    Name: closedNetwork(project),
    Driver: "bridge",
    Internal: true,
    // The engine's machine has no address in the network.
    Options: { "com.docker.network.bridge.inhibit_ipv4": "true" },
  });
  const spec = relayContainer(options, await options.programImage());
  const container = engine.calls().getContainer(relayName(project));
  const there = await ifThere(container.inspect());
  const isSame = there?.Config.Labels[relay.label] === spec.Labels[relay.label];
  if (isSame && there?.State.Running === true) return;
  await removeContainer(engine, relayName(project));
  await createContainer(options, spec);
  // The relay's way out: the closed network has no route.
  const Container = relayName(project);
  await engine.calls().getNetwork("bridge").connect({ Container });
  await container.start();
}

function relayContainer(options: DockerOptions, image: string) {
  const { project } = options;
  const [file = "", ...args] = relayProgram(options);
  const closed = closedNetwork(project);
  const spec: ContainerCreateOptions = {
    name: relayName(project),
    Image: image,
    Entrypoint: [file],
    Cmd: args,
    User: relay.user,
    Env: relay.env,
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      Memory: relay.memoryBytes,
      PidsLimit: relay.pids,
      ReadonlyRootfs: true,
      SecurityOpt: ["no-new-privileges"],
      CapDrop: ["ALL"],
      Init: true,
      NetworkMode: closed,
      RestartPolicy: { Name: "unless-stopped" },
      LogConfig: { Type: "json-file", Config: smallLog },
    },
    NetworkingConfig: { EndpointsConfig: { [closed]: { Aliases: [relay.alias] } } },
  };
  return { ...spec, Labels: relayLabels(project, spec) };
}

/** Removes a container; 409: another client of the engine is removing it. */
export async function removeContainer(engine: Engine, name: string): Promise<void> {
  const removal = engine.calls().getContainer(name).remove({ force: true, v: true });
  await unlessRefused([404, 409], removal);
}

/** Creates a container; a missing image is pulled first. Rejects with a UserError if the image cannot be had. */
export async function createContainer(
  options: DockerOptions,
  spec: ContainerCreateOptions,
): Promise<void> {
  const { engine } = options;
  try {
    await engine.calls().createContainer(spec);
  } catch (error) {
    if (statusOf(error) !== 404 || !/no such image/i.test(engineMessage(error))) throw error;
    await pull(options, spec.Image ?? "");
    await engine.calls().createContainer(spec);
  }
}

async function pull({ engine, loginFor }: DockerOptions, image: string): Promise<void> {
  try {
    const authconfig = await loginFor(image);
    // An empty login would replace that of the engine's own machine.
    const login = authconfig === undefined ? {} : { authconfig };
    const progress = await engine.streams().pull(image, login);
    for await (const { error } of ndjsonLines<{ readonly error?: string }>(progress)) {
      if (error !== undefined) throw new Error(error);
    }
  } catch (error) {
    const message = `the engine at ${engine.address()} has no image ${image}, and can't pull it: ${engineMessage(error)}`;
    throw new UserError("image_missing", message, {
      hint: "load it there, or give [cluster] a registry that the engine reaches",
      cause: error,
    });
  }
}
