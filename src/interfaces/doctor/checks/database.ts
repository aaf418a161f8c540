import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../../foundation/errors.ts";
import type { Check, Finding } from "../finding.ts";
import { ok } from "../finding.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";

/** Whether the project's database is whole. A live scheduler has it open and would have reported it. */
export const database: Check = {
  name: "database",
  run: ({ projectDir, scheduler }) => {
    const path = join(projectDir, ".al", "state.db");
    return scheduler !== null || !existsSync(path) ? [] : [inspect(path)];
  },
};

function inspect(path: string): Finding {
  const url = pathToFileURL(path);
  // Nothing is to be made beside it, as an ordinary reader would.
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
  return {
    severity: "error",
    what: `the database is damaged (${why})`,
    where: path,
    fix: `mv ${file} ${shellWord(`${path}.damaged`)}; rm -f ${file}-wal ${file}-shm`,
  };
}
