import type { AuthConfig, ContainerCreateOptions } from "dockerode";
import { UserError } from "../../../foundation/errors.ts";
import { engineMessage, statusOf } from "../../runners/container/engine.ts";
import type { Engine } from "../../runners/container/engine.ts";

export interface CreateContext {
  readonly engine: Engine;
  /** What a registry wants before it hands out an image; undefined for nothing. */
  readonly loginFor: (image: string) => Promise<AuthConfig | undefined>;
}

/** Creates a container; an image that the engine does not have is pulled first. Rejects with a UserError without it. */
export async function createContainer(
  context: CreateContext,
  spec: ContainerCreateOptions,
): Promise<void> {
  try {
    await context.engine.calls().createContainer(spec);
  } catch (error) {
    if (statusOf(error) !== 404 || !/no such image/i.test(engineMessage(error))) throw error;
    await pull(context, spec.Image ?? "");
    await context.engine.calls().createContainer(spec);
  }
}

async function pull({ engine, loginFor }: CreateContext, image: string): Promise<void> {
  try {
    const login = await loginFor(image);
    const options = login === undefined ? {} : { authconfig: login };
    const progress = await engine.streams().pull(image, options);
    await lastStep(engine, progress);
  } catch (error) {
    const message = `the engine at ${engine.address()} has no image ${image}, and can't pull it: ${engineMessage(error)}`;
    throw new UserError("image_missing", message, {
      hint: "load it there, or give [cluster] a registry that the engine reaches",
      cause: error,
    });
  }
}

function lastStep(engine: Engine, progress: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    engine.streams().modem.followProgress(progress, (error: Error | null) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}
