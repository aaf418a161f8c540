import { openStore } from "../features/open-store.ts";
import { mkdtempSync, rmSync, statSync, lstatSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filter, interval, map, take, type Observable } from "rxjs";
import { ensureApiKey } from "../foundation/credentials/api-key.ts";
import { homeDir } from "../foundation/credentials/read-secret.ts";
import { createRedactor } from "../foundation/credentials/redactor.ts";
import { messageOf, hasCode } from "../foundation/errors.ts";
import { lockProject, type ProjectLock } from "../foundation/store/project-lock.ts";
import { openSessions } from "../interfaces/gateway/sessions.ts";
import { type Store } from "../foundation/store/store.ts";
import { connect } from "node:net";

export interface AcquireOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  /** Called with each later problem that does not stop the scheduler. */
  readonly onProblem: (message: string) => void;
}

/** A socket's path may have 107 bytes, and a temporary directory may be deep. */
const longestTmp = 80;

/**
 * Locks the project for this process and opens its store and sessions. Throws a Problem that names the holding
 * process, or the file that can't be opened; then nothing stays locked.
 */
export async function acquireProject(
  projectDir: string,
  { env, version, onProblem }: AcquireOptions,
) {
  const home = homeDir(env);
  const startedAt = new Date().toISOString();
  const lock = lockProject(
    projectDir,
    { pid: process.pid, startedAt, socketPath: null, gatewayUrl: null, version },
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
    // Sessions of an earlier key have ended: it may have changed while no scheduler ran.
    const madeSince = statSync(apiKey.path).ctimeMs;
    const sessions = openSessions({ home, madeSince, onProblem });
    onClose(() => sessions.close());
    const tmp = tmpdir().length > longestTmp ? "/tmp" : tmpdir();
    const socketDir = mkdtempSync(join(tmp, "al-"));
    onClose(() => rmSync(socketDir, { recursive: true, force: true }));
    await removeDeadSockets(tmp, statSync(socketDir).mtimeMs);
    const socketPath = join(socketDir, socketName);
    return {
      home,
      /** Start of the scheduler, ISO 8601 UTC. */
      startedAt,
      apiKey,
      redactor,
      lock,
      store,
      sessions,
      /** Absolute path for the operator's socket, in a directory that only this user can enter. */
      socketPath,
      /** Releases all resources, the lock last; logs each that can't be released. */
      close: () => held.dispose(),
    };
  } catch (error) {
    held.dispose();
    throw error;
  }
}

/** The resources that one scheduler holds exclusively while it lives. */
export type ProjectHandle = Awaited<ReturnType<typeof acquireProject>>;

/**
 * Emits the reason once when the project is no longer held: `.al` (as by `git clean -fdx`) or its database was removed.
 * All records from then on are lost, and another scheduler may start. `everyMs` is the time between two checks.
 */
export function lostProject(
  { lock, store }: { lock: ProjectLock; store: Store },
  everyMs = 2_000,
): Observable<string> {
  const loss = (): string | null => {
    if (!lock.isHeld()) return "the folder .al was removed, with the history and all queued work";
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
    return `everything was saved as ${files.save()}. Start again with al start`;
  } catch (error) {
    return `it can't be saved (${messageOf(error)}), so put the files back before the next al start`;
  }
}

/** The operator's socket, in a separate folder. */
const socketName = "operator.sock";
/** Name pattern of `mkdtemp`. */
const socketDir = /^al-\w{6}$/;
/** How long a starting scheduler may have a folder without a socket, in ms. */
const longestStartMs = 600_000;
/** How long it may have a socket that refuses: one that is bound does so until its listener is there. */
const longestBindMs = 60_000;

/**
 * Removes the folders in `tmp` of this user's killed schedulers, which have no listener. Never rejects. `now` is in ms, by
 * the clock of these folders: this process may have another.
 */
async function removeDeadSockets(tmp: string, now: number): Promise<void> {
  try {
    for (const name of readdirSync(tmp).filter((each) => socketDir.test(each))) {
      const dir = join(tmp, name);
      if (await isDead(dir, now)) rmSync(dir, { recursive: true, force: true });
    }
  } catch {
    // The folder can't be listed, or another starting scheduler does the same.
  }
}

async function isDead(dir: string, now: number): Promise<boolean> {
  const stat = lstatSync(dir);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) return false;
  const ageMs = now - stat.mtimeMs;
  const names = readdirSync(dir);
  if (names.length === 0) return ageMs > longestStartMs;
  return names.join() === socketName && ageMs > longestBindMs && isRefused(join(dir, socketName));
}

function isRefused(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (isDead: boolean) => {
      socket.destroy();
      resolve(isDead);
    };
    const socket = connect(path, () => answer(false));
    socket.on("error", (error) => answer(hasCode(error, "ECONNREFUSED")));
  });
}
