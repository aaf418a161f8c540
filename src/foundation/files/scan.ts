import {
  NEVER,
  catchError,
  concat,
  defer,
  exhaustMap,
  map,
  merge,
  mergeMap,
  of,
  switchMap,
  timer,
} from "rxjs";
import type { Observable } from "rxjs";
import { messageOf, hasCode, isMissing } from "../errors.ts";
import type { ProjectFileEvent } from "./watch-project.ts";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { schemasFolder } from "../contracts/credential-reference.ts";
import { isOfAgent, isOfProject, imageContextStamp } from "./classify.ts";

/** The existing watched files and agent directories: path relative to the project → its stamp. */
export type Scan = ReadonlyMap<string, string>;

/** Directories looked at in one turn of the event loop, which takes some 0.5 ms. */
const atOnce = 16;

/**
 * Checks every file that the program reads: `config.toml`, the calendars beside it and of each agent its directory and files. A Dockerfile
 * changes with the files that it may copy. Rejects if `agents` can't be read: an unreadable folder is not a removed one.
 */
export async function scanProject(projectDir: string): Promise<Scan> {
  const found = new Map<string, string>();
  const look = (path: string): void => {
    const stamp = stampOf(join(projectDir, path));
    if (stamp !== null) found.set(path, stamp);
  };
  const lookAtAgent = async (name: string): Promise<void> => {
    const dir = `agents/${name}`;
    look(dir);
    const files = filesIn(join(projectDir, dir));
    const schemas = files.includes(schemasFolder)
      ? filesIn(join(projectDir, dir, schemasFolder)).map((file) => `${schemasFolder}/${file}`)
      : [];
    for (const file of [...files, ...schemas].filter(isOfAgent)) look(`${dir}/${file}`);
    const dockerfile = found.get(`${dir}/Dockerfile`);
    if (dockerfile === undefined) return;
    const context = await imageContextStamp(join(projectDir, dir));
    found.set(`${dir}/Dockerfile`, `${dockerfile} ${context}`);
  };
  for (const file of filesIn(projectDir).filter(isOfProject)) look(file);
  const names = namesIn(join(projectDir, "agents"));
  for (let i = 0; i < names.length; i += atOnce) {
    await Promise.all(names.slice(i, i + atOnce).map(lookAtAgent));
    await setImmediate();
  }
  return found;
}

/**
 * A file's stamp changes with its content, its inode (a rename over it) and its mode. A directory's is only its
 * inode: unread files come and go in it. An unreadable file has its error as stamp.
 */
function stampOf(path: string): string | null {
  try {
    const stats = statSync(path, { bigint: true });
    const { dev, ino, mode, size, mtimeNs, ctimeNs } = stats;
    return (stats.isDirectory() ? [dev, ino] : [dev, ino, mode, size, mtimeNs, ctimeNs]).join(":");
  } catch (error) {
    return isGone(error) ? null : messageOf(error);
  }
}

function filesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** A link that leads in a circle leads to nothing either. */
function isGone(error: unknown): boolean {
  return isMissing(error) || hasCode(error, "ELOOP");
}

/** When scans are made, and the base of the first comparison. */
interface RepairScanOptions {
  /** Each value restarts with a scan at once: a watcher that is ready may have missed earlier changes. */
  readonly begin$?: Observable<unknown>;
  /** Each value causes a scan, unless one is running. */
  readonly also$?: Observable<unknown>;
  /** How long between two scans, in ms. */
  readonly everyMs?: number;
  /** The caller's scan; without it, the first scan is the base. */
  readonly before?: Scan | null;
}

/**
 * Scans the project every `everyMs` and emits the changes since the last scan: a watch loses a folder that was
 * renamed and created again, or a link with a new target. Emits `ready` after the first scan. A failed scan emits a
 * `warning` and no changes. Cold; never errors, never completes.
 */
export function repairScans(
  projectDir: string,
  { begin$ = of(null), also$ = NEVER, everyMs = 30_000, before = null }: RepairScanOptions = {},
): Observable<ProjectFileEvent> {
  return defer(() => {
    let last = before;
    let isFirst = true;
    const compare = (scan: Scan): readonly ProjectFileEvent[] => {
      const paths = last === null ? [] : diffScan(last, scan);
      const ready: readonly ProjectFileEvent[] = isFirst ? [{ type: "ready" }] : [];
      last = scan;
      isFirst = false;
      return [...paths.map((path): ProjectFileEvent => ({ type: "touched", path })), ...ready];
    };
    const scan$ = defer(() => scanProject(projectDir)).pipe(
      map(compare),
      catchError((error: unknown) => of([warningOf(error)])),
    );
    const scans$ = concat(
      scan$,
      merge(timer(everyMs, everyMs), also$).pipe(exhaustMap(() => scan$)),
    );
    return begin$.pipe(
      switchMap(() => scans$),
      mergeMap((events) => events),
    );
  });
}

function warningOf(error: unknown): ProjectFileEvent {
  const message = `the project's files can't be scanned: ${messageOf(error)}`;
  return { type: "warning", message };
}

/** Paths that came, went or changed between two scans, sorted. */
export function diffScan(before: Scan, after: Scan): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}
