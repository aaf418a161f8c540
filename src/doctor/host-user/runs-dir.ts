import { lstat } from "node:fs/promises";
import { userInfo } from "node:os";
import { shellWord } from "../../contracts/shell-word.ts";
import { shareBaseDir, whyUnsafe } from "../../runners/host-user/base-dir.ts";
import type { Finding } from "../finding.ts";
import type { DoctorContext } from "../doctor-context.ts";

/** Whether host users' runs can work in their folder: its owner could swap what is in it. */
export async function checkRunsDir({
  runsDir,
}: Pick<DoctorContext, "runsDir">): Promise<Finding[]> {
  const stats = await lstat(runsDir).catch(() => null);
  // The first run makes it.
  if (stats === null) return [];
  const why = stats.isSymbolicLink() ? "is a link" : whyUnsafe(stats);
  if (why === null) return [];
  const what = `the folder of runs ${why}, so no run can work in it`;
  const repair = stats.isDirectory() ? shareBaseDir(runsDir) : `rm ${shellWord(runsDir)}`;
  const fix = userInfo().uid === 0 ? repair : `sudo ${repair}`;
  return [{ severity: "error", what, where: runsDir, fix }];
}
