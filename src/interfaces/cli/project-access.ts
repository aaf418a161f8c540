import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { UserError, hasCode } from "../../foundation/errors.ts";

/** Throws UserError `no_access` if the project's state belongs to another OS user and is closed to this one. */
export function mustHaveAccess(projectDir: string): void {
  const state = join(projectDir, ".al");
  try {
    accessSync(join(state, "run"), constants.R_OK | constants.X_OK);
  } catch (error) {
    if (!hasCode(error, "EACCES", "EPERM")) return;
    throw new UserError("no_access", `${state} is closed to you${belongsTo(state)}`, {
      hint: "run al as the OS user that starts the project's scheduler (sudo -u <user> al …)",
      cause: error,
    });
  }
}

function belongsTo(path: string): string {
  try {
    const { uid } = statSync(path);
    return `: it belongs to ${nameOf(uid)}`;
  } catch {
    return "";
  }
}

function nameOf(uid: number): string {
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  const [name] = lines.find((line) => line.split(":")[2] === String(uid))?.split(":") ?? [];
  return `the OS user ${name ?? uid}`;
}
