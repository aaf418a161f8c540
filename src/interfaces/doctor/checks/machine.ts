import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { finding, ok, type Check, type Finding } from "../finding.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import { watch, existsSync } from "node:fs";
import { messageOf } from "../../../foundation/errors.ts";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

const mebibyte = 1024 ** 2;
/** Below this a run's log and the database can fill the rest at any moment. */
const tooLittle = 64 * mebibyte;
const little = 512 * mebibyte;
const fewInodes = 1000;

/** Whether there is room for state, logs and the runs' working directories. */
export const disk: Check = async ({ projectDir, home, env }) => {
  const places = [...new Set([projectDir, home, env.TMPDIR || tmpdir()])];
  const found = (await Promise.all(places.map(inspect))).filter((finding) => finding !== null);
  return found.length === 0 ? [ok("there is enough space for state, logs and runs")] : found;
};

async function inspect(path: string): Promise<Finding | null> {
  // A missing folder is created later, perhaps on another file system.
  const stats = await statfs(path).catch(() => null);
  if (stats === null) return null;
  const free = stats.bavail * stats.bsize;
  const fix = `free some space: du -xah ${shellWord(path)} | sort -h | tail`;
  if (free < little) {
    const text = `only ${Math.floor(free / mebibyte)} MiB are free`;
    return finding(free < tooLittle ? "error" : "warning", text, path, fix);
  }
  // Some file systems report no number of free files.
  if (stats.files === 0 || stats.ffree >= fewInodes) return null;
  const text = `only ${stats.ffree} more files can be created`;
  return finding("warning", text, path, fix);
}

/** Whether the system can notify a scheduler of changes of one more file; without that it has to poll. */
export const watches: Check = ({ projectDir }) => [watchFinding(projectDir)];

function watchFinding(projectDir: string): Finding {
  try {
    watch(projectDir, { persistent: false }).close();
    return ok("the system reports changes of files");
  } catch (error) {
    return finding(
      "warning",
      `the system can't watch more files (${messageOf(error)}): changes are noticed later`,
      null,
      "sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=1024",
    );
  }
}

/** Whether the project's database is whole. A live scheduler has it open and would have reported it. */
export const database: Check = ({ projectDir, scheduler }) => {
  const path = join(projectDir, ".al", "state.db");
  return scheduler !== null || !existsSync(path) ? [] : [databaseFinding(path)];
};

function databaseFinding(path: string): Finding {
  const url = pathToFileURL(path);
  // Opening must not create files beside it, as an ordinary reader would.
  url.searchParams.set("immutable", "1");
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(url, { readOnly: true });
    const { quick_check: result } = db.prepare("PRAGMA quick_check(1)").get() as {
      quick_check: string;
    };
    return result === "ok" ? ok(path) : broken(path, result);
  } catch (error) {
    return broken(path, messageOf(error));
  } finally {
    db?.close();
  }
}

function broken(path: string, why: string): Finding {
  const file = shellWord(path);
  return finding(
    "error",
    `the database is damaged (${why})`,
    path,
    `mv ${file} ${shellWord(`${path}.damaged`)}; rm -f ${file}-wal ${file}-shm`,
  );
}
