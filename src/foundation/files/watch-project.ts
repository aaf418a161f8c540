import { existsSync, lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { watch, type ChokidarOptions } from "chokidar";
import { catchError, concat, Observable, of } from "rxjs";
import { hasCode, messageOf } from "../errors.ts";
import { classify } from "./classify.ts";

/**
 * An event of watching a project's files. `touched` is a hint that a path (relative to the project, with `/`) may have
 * been added, removed or changed; `ready` that changes are seen from now on; `warning` that watching is impaired, for a
 * person.
 */
export type ProjectFileEvent =
  | { readonly type: "touched"; readonly path: string }
  | { readonly type: "ready" }
  | { readonly type: "warning"; readonly message: string };

/** The used part of chokidar's watcher, which tests can replace. */
interface Watcher {
  on(event: "all", listener: (event: string, path: string) => void): unknown;
  on(event: "ready", listener: () => void): unknown;
  on(event: "error", listener: (error: unknown) => void): unknown;
  add(paths: string[]): unknown;
  close(): Promise<void>;
}

/** How files are watched. */
export interface WatchOptions {
  readonly open?: (dir: string, options: ChokidarOptions) => Watcher;
  /** How long between two polls of a file if the system has no watches left, in ms. */
  readonly pollEveryMs?: number;
}

/** Depth of watched folders below the project: an agent's, and those of its image's files. */
const depth = 10;

/** Error codes for exhausted watches or open files. */
const exhausted = ["ENOSPC", "EMFILE", "ENFILE"];

/**
 * Emits which of the project's files were touched; `repairScans` finds the changes that it misses. It watches the root,
 * not the files, so that later files are seen. If the system has no watches left, it emits a `warning` and polls
 * instead. Cold; never errors, never completes.
 */
export function watchProject(
  projectDir: string,
  { open = watch, pollEveryMs = 1_000 }: WatchOptions = {},
): Observable<ProjectFileEvent> {
  const polling: ChokidarOptions = {
    backend: "polling",
    pollingInterval: pollEveryMs,
    pollingBinaryInterval: pollEveryMs,
  };
  return watched(projectDir, open, {}).pipe(
    catchError((error: unknown) =>
      concat(of(pollingInstead(error)), watched(projectDir, open, polling)),
    ),
  );
}

/** Errors when watches are exhausted, unless it polls already. */
function watched(
  projectDir: string,
  open: NonNullable<WatchOptions["open"]>,
  options: ChokidarOptions,
): Observable<ProjectFileEvent> {
  return new Observable((subscriber) => {
    const pathOf = (path: string): string => relative(projectDir, path).split(sep).join("/");
    const watcher = open(projectDir, {
      ...options,
      ignoreInitial: true,
      // chokidar's handling of an editor's rename would hide the removal of a file that returns late.
      atomic: false,
      depth,
      ignored: (path) => {
        const inside = pathOf(path);
        return inside !== "" && !isRead(projectDir, inside);
      },
    });
    watcher.on("all", (event, path) => {
      const touched = readAgainFor(pathOf(path));
      if (touched !== null) subscriber.next({ type: "touched", path: touched });
      // Files that were ignored before the Dockerfile existed are not checked again automatically.
      if (event === "add" && basename(path) === "Dockerfile") watcher.add(foldersBeside(path));
    });
    watcher.on("ready", () => subscriber.next({ type: "ready" }));
    watcher.on("error", (error) => {
      if (options.backend !== "polling" && hasCode(error, ...exhausted)) subscriber.error(error);
      else subscriber.next({ type: "warning", message: `watching files: ${messageOf(error)}` });
    });
    return () => void watcher.close();
  });
}

/**
 * Files of an image are read only for agents with a Dockerfile. Links in it are not followed: they go into an image as
 * links, and may lead to the whole disk.
 */
function isRead(projectDir: string, path: string): boolean {
  const kind = classify(path);
  if (kind?.kind !== "image") return kind !== null;
  return existsSync(join(projectDir, dockerfileOf(kind.name))) && !isLink(join(projectDir, path));
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function foldersBeside(path: string): string[] {
  const dir = dirname(path);
  try {
    const entries = readdirSync(dir, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(dir, name));
  } catch {
    // The folder was removed again, which is a separate event.
    return [];
  }
}

/** The file to read for a touched one; null for none. */
function readAgainFor(path: string): string | null {
  const kind = classify(path);
  if (kind === null) return null;
  return kind.kind === "image" ? dockerfileOf(kind.name) : path;
}

function dockerfileOf(agent: string): string {
  return `agents/${agent}/Dockerfile`;
}

function pollingInstead(error: unknown): ProjectFileEvent {
  const message =
    `the system can't watch more files (${messageOf(error)}); they are polled instead, which is slower. ` +
    "Raise fs.inotify.max_user_watches and max_user_instances";
  return { type: "warning", message };
}
