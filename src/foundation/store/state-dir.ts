import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf, UserError } from "../errors.ts";

/**
 * Makes the project's state directory `.al` (0700, ignored by git wherever it lies) and `.al/run`, and returns the
 * path of `.al`. Throws UserError `state_dir`.
 */
export function ensureStateDir(projectDir: string): string {
  const dir = join(projectDir, ".al");
  try {
    mkdirSync(join(dir, "run"), { recursive: true, mode: 0o700 });
    chmodSync(dir, 0o700);
    const ignore = join(dir, ".gitignore");
    if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
    return dir;
  } catch (error) {
    throw new UserError("state_dir", `${dir}: ${messageOf(error)}`, {
      hint: "make the project directory writable for the user that runs the scheduler",
      cause: error,
    });
  }
}
