import { createHash, randomBytes } from "node:crypto";
import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { Subject } from "rxjs";
import { messageOf } from "../../foundation/errors.ts";
import { orAside, openDatabase } from "../../foundation/store/database.ts";
import { isCorrupt, storeError, withStoreErrors } from "../../foundation/store/store-error.ts";

/** Place and clock of the sessions. */
export interface SessionsOptions {
  /** AL_HOME; all schedulers of one user share the `sessions.db` in it. */
  readonly home: string;
  /** Epoch ms. */
  readonly now?: () => number;
  /** How often ages are checked, in ms. */
  readonly checkEveryMs?: number;
  /** Epoch ms: earlier sessions have ended. */
  readonly madeSince?: number;
  /** Called when a session's use could not be recorded, which stays good until its idle time is over, or the file was damaged. */
  readonly onProblem: (message: string) => void;
}

const hourMs = 3_600_000;
const idleMs = 12 * hourMs;
const absoluteMs = 7 * 24 * hourMs;
/** A session's use is written at most this often, so that reading pages costs no disk writes. */
const noteEveryMs = 60_000;
/** How long the event loop blocks for another process's write, in ms; that of another scheduler takes less. */
const blockedMs = 100;

const format = {
  firstVersion: 2,
  steps: [
    `CREATE TABLE sessions (id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, seen_at INTEGER NOT NULL)
       WITHOUT ROWID, STRICT;
     CREATE TABLE private_host (name TEXT NOT NULL) STRICT;
     INSERT INTO private_host VALUES ('almanac-' || lower(hex(randomblob(8))) || '.localhost')`,
  ],
};

/**
 * Browser sessions of one user, kept in SQLite with the hash of the token only: 12 h idle, 7 d at most. Throws Problem
 * `store_unavailable` or `store_newer`, and so do the methods that write: they wait only briefly for a locked file, and
 * the client retries. A damaged file is moved aside: a start is worth more than the logins.
 */
export function openSessions(options: SessionsOptions) {
  const { home, now = Date.now, checkEveryMs = 30_000, madeSince = 0, onProblem } = options;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const path = join(home, "sessions.db");
  const db = orAside(
    path,
    () => openSince(path, madeSince),
    (error) => isCorrupt(error) || !isUsable(path),
    onProblem,
  );
  const alive = "created_at > $oldest AND seen_at > $idlest";
  const ages = (): { $oldest: number; $idlest: number } => ({
    $oldest: now() - absoluteMs,
    $idlest: now() - idleMs,
  });
  const insert = db.prepare("INSERT INTO sessions VALUES (?, ?, ?)");
  const find = db.prepare(`SELECT seen_at AS seenAt FROM sessions WHERE id = $id AND ${alive}`);
  const note = db.prepare("UPDATE sessions SET seen_at = ? WHERE id = ?");
  const remove = db.prepare("DELETE FROM sessions WHERE id = ?");
  const removeAll = db.prepare("DELETE FROM sessions RETURNING id");
  const removeOld = db.prepare(`DELETE FROM sessions WHERE NOT (${alive})`);
  const endedIds = new Subject<string>();
  /** Ids of sessions used in this process, which emits their end, whichever process deletes them. */
  const used = new Set<string>();
  /** Use is not written again before this time: a locked file would delay each request. */
  let noteFrom = 0;

  const emitEnd = (id: string): void => {
    if (used.delete(id)) endedIds.next(id);
  };

  const noteUse = (id: string, seenAt: number): void => {
    if (now() < Math.max(seenAt + noteEveryMs, noteFrom)) return;
    try {
      note.run(now(), id);
    } catch (error) {
      noteFrom = now() + noteEveryMs;
      onProblem(`sessions.db: ${messageOf(error)}`);
    }
  };

  const check = (): void => {
    try {
      for (const id of used) if (!find.get({ $id: id, ...ages() })) emitEnd(id);
      removeOld.run(ages());
    } catch (error) {
      onProblem(`sessions.db: ${messageOf(error)}`);
    }
  };

  const timer = setInterval(check, checkEveryMs).unref();

  const privateHost = String(db.prepare("SELECT name FROM private_host").get()?.name);
  return withStoreErrors(path, {
    /**
     * The host name for which browsers on this machine get the cookie. Cookies ignore ports: a program that knows the name
     * can receive the cookie on its own port, so only callers with the key see the name.
     */
    privateHost,
    /** Ids of sessions as they end, by logout, key change or age. Hot. */
    ended$: endedIds.asObservable(),
    /** Creates a session and returns its token: 256 random bits, base64url. */
    create: (): string => {
      const token = randomBytes(32).toString("base64url");
      const id = idOf(token);
      insert.run(id, now(), now());
      used.add(id);
      return token;
    },
    /** The id of a live session; null for an unknown or expired token. */
    find: (token: string): string | null => {
      const id = idOf(token);
      return find.get({ $id: id, ...ages() }) === undefined ? null : id;
    },
    /** The id of a live session, whose idle time restarts; null for an unknown or expired token. */
    touch: (token: string): string | null => {
      const id = idOf(token);
      const row = find.get({ $id: id, ...ages() });
      if (row === undefined) return null;
      used.add(id);
      noteUse(id, Number(row.seenAt));
      return id;
    },
    end: (id: string): void => {
      remove.run(id);
      emitEnd(id);
    },
    endAll: (): void => {
      for (const row of removeAll.all()) emitEnd(String(row.id));
      check();
    },
    close: () => {
      clearInterval(timer);
      endedIds.complete();
      if (db.isOpen) db.close();
    },
  });
}

export type Sessions = ReturnType<typeof openSessions>;

/** The start may wait without limit: nothing else runs yet, and schedulers start together after a boot. */
function openSince(path: string, madeSince: number): DatabaseSync {
  const db = openDatabase(path, format);
  try {
    db.prepare("DELETE FROM sessions WHERE created_at < ?").run(Math.floor(madeSince));
    db.exec(`PRAGMA busy_timeout = ${blockedMs}`);
    return db;
  } catch (error) {
    db.close();
    throw storeError(path, error);
  }
}

/** Whether the path is a regular file that this user may read and write. */
function isUsable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function idOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
