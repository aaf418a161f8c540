import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { catchError, concatAll, concatMap, defer, of, throwError, type Observable } from "rxjs";
import type { AgentConfig } from "../../../../../streams/agent-config.ts";
import { isImageContext } from "../../../../foundation/files/classify.ts";
import { isUnreachable, type Engine } from "../engine.ts";
import { agentLabel, projectId, projectLabel } from "../labels.ts";
import { buildImage, type ImageEvent } from "./build.ts";
import { imagesWith, inspectImage, removeImages, withProgram } from "./engine-images.ts";
import { hashEntries, walk, type TarEntry } from "./archive.ts";

export interface AgentImageOptions {
  readonly engine: Engine;
  readonly projectDir: string;
  /** The name of the default image in Dockerfiles. */
  readonly builtByItself: string;
  readonly shared: (key: string, work: () => Observable<ImageEvent>) => Observable<ImageEvent>;
  /** The last failed build of each agent. */
  readonly failures: Map<string, { readonly tag: string; readonly error: unknown }>;
  /** Whether to repeat a failed build. */
  readonly again: boolean;
}

/**
 * The image of an agent with its own Dockerfile, built if the engine has no image of these contents. Its folder is the
 * build's context, without files whose changes need no new image.
 */
export function agentImage(
  { name }: AgentConfig,
  /** The base of the agent's image. */
  base: { readonly id: string; readonly name: string },
  options: AgentImageOptions,
): Observable<ImageEvent> {
  const { engine, projectDir, builtByItself, shared, failures, again } = options;
  const entries = () =>
    walk(join(projectDir, "agents", name), "", (_name, path) => !isImageContext(path));
  const context = () => onBase(entries(), builtByItself, base.name);
  return defer(async (): Promise<Observable<ImageEvent>> => {
    const hash = createHash("sha256")
      .update(base.id)
      .update(await hashEntries(entries()));
    const tag = `al-agent-${name}:${hash.digest("hex").slice(0, 12)}`;
    const there = await inspectImage(engine, tag);
    if (there !== null) return of(withProgram(there, tag));
    const failure = failures.get(name);
    if (failure?.tag === tag && !again) throw failure.error;
    const labels = labelsOf(projectDir, name);
    return shared(tag, () => buildImage(engine, { tag, labels, entries: context })).pipe(
      concatMap((event) => (event.type === "image" ? built(engine, tag, labels) : of(event))),
      catchError((error: unknown) => {
        if (!isUnreachable(error)) failures.set(name, { tag, error });
        return throwError(() => error);
      }),
    );
  }).pipe(concatAll());
}

/**
 * The entries with a Dockerfile that begins with exactly this base: `latest` is the last image built on this engine,
 * perhaps by another version of the program for another project.
 */
async function* onBase(
  entries: AsyncIterable<TarEntry>,
  latest: string,
  base: string,
): AsyncGenerator<TarEntry> {
  const names = [latest, latest.replace(/:latest$/, "")];
  for await (const entry of entries) {
    if (entry.type !== "file" || entry.path !== "Dockerfile") {
      yield entry;
      continue;
    }
    const text = await readFile(entry.from, "utf8");
    const pinned = text.replace(/^([ \t]*FROM[ \t]+)(\S+)/gim, (line, from: string, name: string) =>
      names.includes(name) ? `${from}${base}` : line,
    );
    yield { type: "content", path: entry.path, content: Buffer.from(pinned) };
  }
}

/** Checks a new image and removes those that it replaces. */
async function built(
  engine: Engine,
  tag: string,
  labels: Readonly<Record<string, string>>,
): Promise<ImageEvent> {
  const there = await inspectImage(engine, tag);
  if (there === null) throw new Error(`the engine lost the image ${tag} right after its build`);
  try {
    const event = withProgram(there, tag);
    const images = await imagesWith(engine, labels);
    const replaced = images.map(({ Id }) => Id).filter((id) => id !== there.id);
    await removeImages(engine, replaced);
    return event;
  } catch (error) {
    await removeImages(engine, [there.id]);
    throw error;
  }
}

/** Id of the newest image built for the agent; null without one. */
export async function lastGoodImage(
  engine: Engine,
  projectDir: string,
  agent: string,
): Promise<string | null> {
  const images = await imagesWith(engine, labelsOf(projectDir, agent));
  return images.sort((a, b) => b.Created - a.Created)[0]?.Id ?? null;
}

function labelsOf(projectDir: string, agent: string) {
  return { [projectLabel]: projectId(projectDir), [agentLabel]: agent };
}
