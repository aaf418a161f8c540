import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import type { Check, Finding } from "../finding.ts";
import { ok } from "../finding.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";

const mebibyte = 1024 ** 2;
/** Below this a run's log and the database can fill the rest at any moment. */
const tooLittle = 64 * mebibyte;
const little = 512 * mebibyte;
const fewInodes = 1000;

/** Whether there is room for state, logs and the runs' working directories. */
export const disk: Check = {
  name: "disk",
  run: async ({ projectDir, home, env }) => {
    const places = [...new Set([projectDir, home, env.TMPDIR || tmpdir()])];
    const found = (await Promise.all(places.map(inspect))).filter((finding) => finding !== null);
    return found.length === 0 ? [ok("there is room for state, logs and runs")] : found;
  },
};

async function inspect(path: string): Promise<Finding | null> {
  // What isn't there yet is made later, on the same file system as the others or not.
  const stats = await statfs(path).catch(() => null);
  if (stats === null) return null;
  const free = stats.bavail * stats.bsize;
  const fix = `free some space: du -xah ${shellWord(path)} | sort -h | tail`;
  if (free < little) {
    const what = `only ${Math.floor(free / mebibyte)} MiB are free`;
    return { severity: free < tooLittle ? "error" : "warning", what, where: path, fix };
  }
  // Some file systems count none.
  if (stats.files === 0 || stats.ffree >= fewInodes) return null;
  const what = `only ${stats.ffree} more files can be made`;
  return { severity: "warning", what, where: path, fix };
}
