import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { catchError, concatMap, defer, of, switchMap, throwError } from "rxjs";
import type { Observable } from "rxjs";
import type { AgentConfig } from "../../../../../streams/agent-config.ts";
import { isImageContext } from "../../../../foundation/contracts/image-context.ts";
import { isUnreachable } from "../engine.ts";
import type { Engine } from "../engine.ts";
import { agentLabel, projectId, projectLabel } from "../labels.ts";
import { buildImage } from "./build.ts";
import type { ImageEvent } from "./build.ts";
import { inspectImage, withProgram } from "./default-image.ts";
import { hashEntries, walk } from "./archive.ts";
import type { TarEntry } from "./archive.ts";

export interface AgentImageOptions {
  readonly engine: Engine;
  readonly projectDir: string;
  /** What Dockerfiles call the default image. */
  readonly builtByItself: string;
  readonly shared: (key: string, work: () => Observable<ImageEvent>) => Observable<ImageEvent>;
  /** Builds that failed, by tag. */
  readonly failures: Map<string, unknown>;
  /** Whether to try again what failed. */
  readonly again: boolean;
}

/** The image that an agent's is built on. */
interface Base {
  readonly id: string;
  readonly name: string;
}

/**
 * The image of an agent that has its own Dockerfile, built when the engine has none of these contents. Its folder
 * is the build's context, but for what changes without needing a new image.
 */
export function agentImage(
  { name }: AgentConfig,
  base: Base,
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
    if (failures.has(tag) && !again) throw failures.get(tag);
    const labels = { [projectLabel]: projectId(projectDir), [agentLabel]: name };
    return shared(tag, () => buildImage(engine, { tag, labels, entries: context })).pipe(
      concatMap((event) => (event.type === "image" ? built(engine, tag, labels) : of(event))),
      catchError((error: unknown) => {
        if (!isUnreachable(error)) remember(failures, tag, error);
        return throwError(() => error);
      }),
    );
  }).pipe(switchMap((event$) => event$));
}

/**
 * The entries with a Dockerfile that begins with exactly this base: `latest` is whatever was built last on this
 * engine, perhaps by another version of the program for another project.
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
    const pinned = text.replace(/^(\s*FROM\s+)(\S+)/gim, (line, from: string, name: string) =>
      names.includes(name) ? `${from}${base}` : line,
    );
    yield { type: "content", path: entry.path, content: Buffer.from(pinned) };
  }
}

/** Failures of Dockerfiles that were edited since are of no use. */
const keptFailures = 100;

function remember(failures: Map<string, unknown>, tag: string, error: unknown): void {
  failures.delete(tag);
  failures.set(tag, error);
  const [oldest] = failures.keys();
  if (failures.size > keptFailures && oldest !== undefined) failures.delete(oldest);
}

/** Checks a new image and removes the ones that it replaces. */
async function built(
  engine: Engine,
  tag: string,
  labels: Readonly<Record<string, string>>,
): Promise<ImageEvent> {
  const there = await inspectImage(engine, tag);
  if (there === null) throw new Error(`the engine lost the image ${tag} right after its build`);
  try {
    const event = withProgram(there, tag);
    await removeImages(engine, labels, (id) => id !== there.id);
    return event;
  } catch (error) {
    await removeImages(engine, labels, (id) => id === there.id);
    throw error;
  }
}

async function removeImages(
  engine: Engine,
  labels: Readonly<Record<string, string>>,
  which: (id: string) => boolean,
): Promise<void> {
  const images = await imagesWith(engine, labels);
  for (const { Id } of images.filter((image) => which(image.Id))) {
    // One that a run still uses is refused, and goes with the next build.
    await engine
      .calls()
      .getImage(Id)
      .remove()
      .catch(() => undefined);
  }
}

/** Id of the newest image that was built for the agent; null without one. */
export async function lastGoodImage(
  engine: Engine,
  projectDir: string,
  agent: string,
): Promise<string | null> {
  const labels = { [projectLabel]: projectId(projectDir), [agentLabel]: agent };
  const images = await imagesWith(engine, labels);
  return images.sort((a, b) => b.Created - a.Created)[0]?.Id ?? null;
}

function imagesWith(engine: Engine, labels: Readonly<Record<string, string>>) {
  const label = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return engine.calls().listImages({ filters: { label } });
}
