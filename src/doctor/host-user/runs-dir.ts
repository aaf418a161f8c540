import { lstat } from "node:fs/promises";
import { userInfo } from "node:os";
import type { Finding } from "../finding.ts";
import type { Patient } from "../patient.ts";
import { shellWord } from "../../contracts/shell-word.ts";

/** Whether host users' runs can work in their folder: whoever owns it could swap what is in it. */
export async function lookAtRunsDir({ runsDir }: Pick<Patient, "runsDir">): Promise<Finding[]> {
  const stats = await lstat(runsDir).catch(() => null);
  // The first run makes it.
  if (stats === null) return [];
  const { uid, username } = userInfo();
  const sudo = uid === 0 ? "" : "sudo ";
  const unsafe = (what: string, fix: string): Finding[] => [
    { severity: "error", what, where: runsDir, fix: `${sudo}${fix} ${shellWord(runsDir)}` },
  ];
  if (stats.isSymbolicLink()) return unsafe("the folder of runs is a link", "rm");
  if (!stats.isDirectory()) return unsafe("the folder of runs is not a folder", "rm");
  if (stats.uid === uid) return [];
  const what = `the folder of runs belongs to another OS user (id ${stats.uid}), so no run can work in it`;
  return unsafe(what, `chown ${shellWord(username)}`);
}
