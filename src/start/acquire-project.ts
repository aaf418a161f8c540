import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filter, interval, map, take } from "rxjs";
import type { Observable } from "rxjs";
import { ensureApiKey } from "../foundation/credentials/api-key.ts";
import type { ApiKey } from "../foundation/credentials/api-key.ts";
import { homeDir } from "../foundation/credentials/home-dir.ts";
import { createRedactor } from "../foundation/credentials/redactor.ts";
import type { Redactor } from "../foundation/credentials/redactor.ts";
import { messageOf } from "../foundation/errors.ts";
import { lockProject } from "../foundation/store/project-lock.ts";
import type { ProjectLock } from "../foundation/store/project-lock.ts";
import { openSessions } from "../foundation/store/sessions.ts";
import type { OpenSessions } from "../foundation/store/sessions.ts";
import { openStore } from "../foundation/store/store.ts";
import type { Store } from "../foundation/store/store.ts";
import { removeDeadSockets, socketName } from "./dead-sockets.ts";

/** What one scheduler holds exclusively while it lives. */
export interface ProjectHandle {
  readonly home: string;
  /** ISO 8601 UTC: since when. */
  readonly startedAt: string;
  readonly apiKey: ApiKey;
  readonly redactor: Redactor;
  readonly lock: ProjectLock;
  readonly store: Store;
  readonly sessions: OpenSessions;
  /** Absolute path for the operator's socket, in a directory that only this user can enter. */
  readonly socketPath: string;
  /** Releases all of it, the lock last; logs what can't be released. */
  readonly close: () => void;
}

export interface AcquireOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  /** Called with what goes wrong later on and is no reason to stop. */
  readonly onProblem: (message: string) => void;
}

/** A socket's path may hold 107 bytes, and a temporary directory may be deep. */
const longestTmp = 80;

/**
 * Locks the project for this process and opens its store and sessions. Throws a UserError that names the process that
 * holds it, or the file that can't be opened; then nothing stays locked.
 */
export async function acquireProject(
  projectDir: string,
  { env, version, onProblem }: AcquireOptions,
): Promise<ProjectHandle> {
  const home = homeDir(env);
  const startedAt = new Date().toISOString();
  const lock = lockProject(
    projectDir,
    {
      pid: process.pid,
      startedAt,
      socketPath: null,
      gatewayUrl: null,
      version,
    },
    onProblem,
  );
  const held = new DisposableStack();
  const onClose = (release: () => void): void =>
    held.defer(() => {
      try {
        release();
      } catch (error) {
        onProblem(messageOf(error));
      }
    });
  onClose(() => lock.release());
  try {
    const apiKey = await ensureApiKey(home);
    const redactor = createRedactor();
    redactor.add([apiKey.key]);
    const store = openStore(projectDir);
    onClose(() => store.close());
    // Who logged in with an earlier key is out: it may have changed while no scheduler ran.
    const madeSince = statSync(apiKey.path).ctimeMs;
    const sessions = openSessions({ home, madeSince, onProblem });
    onClose(() => sessions.close());
    const tmp = tmpdir().length > longestTmp ? "/tmp" : tmpdir();
    await removeDeadSockets(tmp);
    const socketDir = mkdtempSync(join(tmp, "al-"));
    onClose(() => rmSync(socketDir, { recursive: true, force: true }));
    const socketPath = join(socketDir, socketName);
    return {
      home,
      startedAt,
      apiKey,
      redactor,
      lock,
      store,
      sessions,
      socketPath,
      close: () => held.dispose(),
    };
  } catch (error) {
    held.dispose();
    throw error;
  }
}

/**
 * Emits once, why, when the project is held no more: `.al` was removed, as `git clean -fdx` does, or its database was.
 * What is recorded from then on is lost, and another scheduler may start. `everyMs` is between two looks.
 */
export function lostProject(
  { lock, store }: { lock: Pick<ProjectLock, "isHeld">; store: Pick<Store, "files"> },
  everyMs = 2_000,
): Observable<string> {
  const loss = (): string | null => {
    if (!lock.isHeld())
      return "the folder .al was removed, and with it the history and all work that waited";
    return store.files.areInPlace() ? null : `${movedDatabase}: ${savedAs(store.files)}`;
  };
  return interval(everyMs).pipe(
    map(loss),
    filter((why) => why !== null),
    take(1),
  );
}

const movedDatabase =
  "the database .al/state.db, or its -wal or -shm, was removed, moved or replaced while the scheduler runs";

function savedAs(files: Store["files"]): string {
  try {
    return `all of it was saved as ${files.save()}. Start again with al start`;
  } catch (error) {
    return `it can't be saved (${messageOf(error)}), so put the files back before the next al start`;
  }
}
