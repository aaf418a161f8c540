import type { AuthConfig } from "dockerode";
import { UserError } from "../../../foundation/errors.ts";
import { engineMessage, isUnreachable } from "../../runners/container/engine.ts";
import type { Engine } from "../../runners/container/engine.ts";
import { ndjsonLines } from "../../runners/container/image/build.ts";
import { registryOf } from "./registry-login.ts";

interface PushLine {
  readonly error?: string;
}

/** Gives an image of the engine this name, and pushes it to the name's registry. Rejects with a UserError. */
export async function pushImage(
  engine: Engine,
  id: string,
  name: string,
  auth: AuthConfig | undefined,
): Promise<void> {
  const [, repo = "", tag = ""] = /^(.+):([^:/]+)$/.exec(name) ?? [];
  try {
    await engine.calls().getImage(id).tag({ repo, tag });
    // The engine wants the header also where there is no login.
    const image = engine.streams().getImage(repo);
    const answer = await image.push({ tag, authconfig: auth ?? {} });
    for await (const { error } of ndjsonLines<PushLine>(answer)) {
      if (error !== undefined) throw new Error(error);
    }
  } catch (error) {
    if (error instanceof UserError || isUnreachable(error)) throw error;
    const message = `the image ${name} could not be pushed: ${engineMessage(error)}`;
    const hint = `run docker login ${registryOf(name)}, or set another registry under [cluster]`;
    throw new UserError("push_failed", message, { hint, cause: error });
  }
}
