import { createHash } from "node:crypto";
import { concatAll, concatMap, defer, of, type Observable } from "rxjs";
import { Problem } from "../../../../foundation/errors.ts";
import type { Engine } from "../engine.ts";
import { buildImage, type ImageEvent } from "./build.ts";
import {
  defaultImage,
  imagesWith,
  inspectImage,
  removeImages,
  versionLabel,
  withProgram,
} from "./engine-images.ts";
import { defaultDockerfile, programContext } from "./dockerfile.ts";
import type { Program } from "./program.ts";
import type { TarEntry } from "./archive.ts";

const registryBase = "node:24-slim";

const buildLabel = "al.build";
/** The installation and the base of an image: its replacement has the same. */
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
 * The project's base image, built first if it is the default one and no image has these contents: on the same engine,
 * `latest` may be the image of another version. Errors with a Problem if another image is missing.
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
  }).pipe(concatAll());
}

/** The name of the default image on this base with exactly the program's contents, built or not. */
export async function defaultImageTag(
  sources: DefaultImageSources,
  base: string | null,
): Promise<string> {
  return (await defaultBuild(sources, base)).tag;
}

type DefaultBuild = Awaited<ReturnType<typeof defaultBuild>>;

function buildDefault(engine: Engine, build: DefaultBuild): Observable<ImageEvent> {
  const { repo, version, labels } = build;
  return buildImage(engine, build).pipe(
    concatMap(async (event) => {
      if (event.type !== "image") return event;
      const image = engine.calls().getImage(event.id);
      // People build on these names, by hand or with another program's Dockerfile.
      for (const tag of [version, "latest"]) await image.tag({ repo, tag });
      await removeReplaced(engine, repo, labels[originLabel], event.id);
      return event;
    }),
  );
}

/** A user's own images built on the default one inherit its labels, so the names decide as well. */
async function removeReplaced(
  engine: Engine,
  repo: string,
  origin: string,
  id: string,
): Promise<void> {
  for (const { Id, RepoTags } of await imagesWith(engine, { [originLabel]: origin })) {
    const tags = (RepoTags as string[] | null) ?? [];
    if (Id !== id && tags.every((tag) => tag.startsWith(`${repo}:`)))
      await removeImages(engine, tags);
  }
}

async function defaultBuild(
  { engine, programDir, program: read, builtByItself }: DefaultImageSources,
  base: string | null,
) {
  const there = base === null ? null : await inspectImage(engine, base);
  if (base !== null && there === null) throw missingImage(base, "base");
  const program = await read();
  const { version } = program;
  const dockerfile = defaultDockerfile(base ?? registryBase);
  const build = shortHash(dockerfile, program.hash, there?.id ?? "");
  const repo = builtByItself.replace(/:[^:/]*$/, "");
  return {
    repo,
    version,
    /** Names exactly these contents. */
    tag: `${repo}:${version}-${build}`,
    labels: {
      [versionLabel]: version,
      [buildLabel]: build,
      [originLabel]: shortHash(programDir, base ?? registryBase),
    },
    entries: async function* (): AsyncGenerator<TarEntry> {
      yield { type: "content", path: "Dockerfile", content: Buffer.from(dockerfile) };
      yield* program.entries(programContext);
    },
  };
}

function shortHash(...texts: readonly string[]): string {
  return createHash("sha256").update(texts.join("\0")).digest("hex").slice(0, 12);
}

function missingImage(image: string, key: "image" | "base"): Problem {
  const hint =
    key === "image"
      ? `build it FROM ${defaultImage}, or leave [local].image out: only ${defaultImage} is built automatically`
      : `pull or import it, or leave [local].base out to build on ${registryBase}`;
  return new Problem(
    "image_missing",
    `the image "${image}" of [local].${key} is not on this engine`,
    hint,
  );
}
