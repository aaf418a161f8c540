import type { ImageInfo } from "dockerode";
import { Problem } from "../../../../foundation/errors.ts";
import { statusOf, type Engine } from "../engine.ts";
import type { ImageEvent } from "./build.ts";

/** The only image that the scheduler builds itself. */
export const defaultImage = "al-agent:latest";

/** The label of every image that holds the program; an image built on one inherits it. */
export const versionLabel = "al.version";

type Labels = Readonly<Record<string, string | undefined>>;

/** The used part of the engine's answer. */
interface Inspected {
  readonly Id: string;
  readonly Config: { readonly Labels: Labels | null; readonly Volumes?: object | null };
}

/** An image's id, labels and declared volumes; null if the engine has no image of that name. */
export async function inspectImage(engine: Engine, name: string) {
  try {
    const { Id, Config }: Inspected = await engine.calls().getImage(name).inspect();
    return { id: Id, labels: Config.Labels ?? {}, volumes: Object.keys(Config.Volumes ?? {}) };
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

/** The image, if it is based on one with the program. Throws a Problem otherwise. */
export function withProgram(
  { id, labels }: { readonly id: string; readonly labels: Labels },
  name: string,
): ImageEvent {
  if (labels[versionLabel] !== undefined) return { type: "image", id, name };
  throw new Problem(
    "image_without_program",
    `the image ${name} is not built on ${defaultImage}`,
    `begin the last stage of its Dockerfile with FROM ${defaultImage}`,
  );
}

/** Images with all of these labels. */
export function imagesWith(engine: Engine, labels: Labels): Promise<ImageInfo[]> {
  const label = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return engine.calls().listImages({ filters: { label } });
}

/** Removes images by id or name. An image used by a run or another image is kept, and removed with the next build. */
export async function removeImages(engine: Engine, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await engine
      .calls()
      .getImage(name)
      .remove()
      .catch(() => undefined);
  }
}
