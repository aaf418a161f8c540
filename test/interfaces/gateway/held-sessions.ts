import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSessions } from "../../../src/interfaces/gateway/sessions.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

/** Sessions, and another process that holds their database until its transaction ends. */
export function heldSessions() {
  const home = tempDir();
  const sessions = openSessions({ home, onProblem: () => undefined });
  const holder = new DatabaseSync(join(home, "sessions.db"));
  onTestFinished(() => {
    holder.close();
    sessions.close();
  });
  holder.exec("BEGIN IMMEDIATE");
  return { sessions, release: () => holder.exec("ROLLBACK") };
}
