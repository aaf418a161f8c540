import { createHash } from "node:crypto";
import { concatMap, defer, of, switchMap } from "rxjs";
import type { Observable } from "rxjs";
import { UserError } from "../../../../foundation/errors.ts";
import { statusOf } from "../engine.ts";
import type { Engine } from "../engine.ts";
import { buildImage } from "./build.ts";
import type { ImageEvent } from "./build.ts";
import { defaultDockerfile, programContext } from "./dockerfile.ts";
import type { Program } from "./program.ts";
import type { TarEntry } from "./archive.ts";

/** The only image that is built by itself. */
export const defaultImage = "al-agent:latest";
const registryBase = "node:24-slim";

/** Labels of every image that holds the program; an image built on one inherits them. */
const versionLabel = "al.version";
const buildLabel = "al.build";
/** The installation and the base that an image was made from: what replaces it has the same. */
const originLabel = "al.origin";

/** The project's config of images: `[local].image` and `[local].base`. */
export interface ImageConfig {
  readonly image: string;
  readonly base: string | null;
}

export interface DefaultImageSources {
  readonly engine: Engine;
  /** The folder of the program's package.json. */
  readonly programDir: string;
  readonly program: () => Promise<Program>;
  /** The image that is built by itself. */
  readonly builtByItself: string;
}

/**
 * The project's base image, built first when it is the default one and no image has these contents: on the same
 * engine, `latest` may be the image of another version. Errors with a UserError when another image is missing.
 */
export function baseImage(
  sources: DefaultImageSources,
  { image, base }: ImageConfig,
): Observable<ImageEvent> {
  const { engine, builtByItself } = sources;
  return defer(async (): Promise<Observable<ImageEvent>> => {
    if (image !== builtByItself) {
      const there = await inspectImage(engine, image);
      if (there === null) throw missingImage(image, "image");
      return of(withProgram(there, image));
    }
    const build = await defaultBuild(sources, base);
    const there = await inspectImage(engine, build.tag);
    return there === null ? buildDefault(engine, build) : of(withProgram(there, build.tag));
  }).pipe(switchMap((event$) => event$));
}

/** The name of the default image on this base with exactly the program's contents, whether it is built or not. */
export async function defaultImageTag(
  sources: DefaultImageSources,
  base: string | null,
): Promise<string> {
  return (await defaultBuild(sources, base)).tag;
}

interface DefaultBuild {
  readonly repo: string;
  /** Names these contents and nothing else. */
  readonly tag: string;
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly entries: () => AsyncIterable<TarEntry>;
}

function buildDefault(engine: Engine, build: DefaultBuild): Observable<ImageEvent> {
  const { repo, version, labels } = build;
  return buildImage(engine, build).pipe(
    concatMap(async (event) => {
      if (event.type !== "image") return event;
      const image = engine.calls().getImage(event.id);
      // What a person builds on, by hand or with another program's Dockerfile.
      for (const tag of [version, "latest"]) await image.tag({ repo, tag });
      await removeReplaced(engine, repo, labels[originLabel] ?? "", event.id);
      return event;
    }),
  );
}

/** Images of a user's own that are built on the default one inherit its labels, so the names decide as well. */
async function removeReplaced(
  engine: Engine,
  repo: string,
  origin: string,
  id: string,
): Promise<void> {
  const label = [`${originLabel}=${origin}`];
  const images = await engine.calls().listImages({ filters: { label } });
  for (const { Id, RepoTags } of images) {
    const tags = (RepoTags as string[] | null) ?? [];
    if (Id === id || !tags.every((tag) => tag.startsWith(`${repo}:`))) continue;
    // One that an agent's image is built on or that a run uses may be refused, and goes with the next build.
    for (const tag of tags)
      await engine
        .calls()
        .getImage(tag)
        .remove()
        .catch(() => undefined);
  }
}

async function defaultBuild(
  { engine, programDir, program: read, builtByItself }: DefaultImageSources,
  base: string | null,
): Promise<DefaultBuild> {
  const there = base === null ? null : await inspectImage(engine, base);
  if (base !== null && there === null) throw missingImage(base, "base");
  const program = await read();
  const { version } = program;
  const dockerfile = defaultDockerfile({ base: base ?? registryBase, main: program.main });
  const build = shortHash(dockerfile, program.hash, there?.id ?? "");
  const repo = builtByItself.replace(/:[^:/]*$/, "");
  return {
    repo,
    version,
    tag: `${repo}:${version}-${build}`,
    labels: {
      [versionLabel]: version,
      [buildLabel]: build,
      [originLabel]: shortHash(programDir, base ?? registryBase),
    },
    entries: () => defaultEntries(dockerfile, program),
  };
}

function shortHash(...texts: readonly string[]): string {
  return createHash("sha256").update(texts.join("\0")).digest("hex").slice(0, 12);
}

async function* defaultEntries(dockerfile: string, program: Program): AsyncGenerator<TarEntry> {
  yield { type: "content", path: "Dockerfile", content: Buffer.from(dockerfile) };
  yield* program.entries(programContext);
}

interface ImageFacts {
  readonly id: string;
  readonly labels: Readonly<Record<string, string | undefined>>;
}

/** The part of the engine's answer that is used. Its labels are null where there are none. */
interface Inspected {
  readonly Id: string;
  readonly Config: { readonly Labels: ImageFacts["labels"] | null };
}

/** An image's id and labels; null when the engine has none of that name. */
export async function inspectImage(engine: Engine, name: string): Promise<ImageFacts | null> {
  try {
    const { Id, Config }: Inspected = await engine.calls().getImage(name).inspect();
    return { id: Id, labels: Config.Labels ?? {} };
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

/** The image, if it was built on one that holds the program. Throws a UserError otherwise. */
export function withProgram({ id, labels }: ImageFacts, name: string): ImageEvent {
  if (labels[versionLabel] !== undefined) return { type: "image", id, name };
  const message = `the image ${name} is not built on ${defaultImage}`;
  throw new UserError("image_without_program", message, {
    hint: `begin the last stage of its Dockerfile with FROM ${defaultImage}`,
  });
}

function missingImage(image: string, key: "image" | "base"): UserError {
  const message = `the image "${image}" of [local].${key} is not on this engine`;
  const hint =
    key === "image"
      ? `build it FROM ${defaultImage}, or leave [local].image out: only ${defaultImage} is built by itself`
      : `pull or import it, or leave [local].base out to build on ${registryBase}`;
  return new UserError("image_missing", message, { hint });
}
