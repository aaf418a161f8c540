import { chmod, lstat, readdir } from "node:fs/promises";
import type { Stats } from "node:fs";
import { join } from "node:path";
import { storeDir } from "../../../foundation/credentials/read-secret.ts";
import { finding, ok, type Check, type Finding } from "../finding.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";

/** Whether secrets and state are private to their owner, and only the owner can change agents. */
export const permissions: Check = async ({ home, projectDir }) => {
  const store = await lookIn(storeDir(home), isPrivate);
  const stateDir = join(projectDir, ".al");
  const state = [...(await lookAt(stateDir, isPrivate)), ...(await lookInside(stateDir))];
  const config = await lookAt(join(projectDir, "config.toml"), isOthersToWrite);
  const agents = await lookIn(join(projectDir, "agents"), isOthersToWrite);
  const found = [...store, ...state, ...config, ...agents];
  return found.length === 0 ? [ok("no other OS user can read secrets or change agents")] : found;
};

/** The finding for a file; null without a problem. */
type Judge = (path: string, stats: Stats) => Finding | null;

/** An invisible entry is not a finding: the check that needs it reports it. */
async function lookAt(path: string, judge: Judge): Promise<Finding[]> {
  const stats = await lstat(path).catch(() => null);
  if (stats === null || stats.isSymbolicLink()) return [];
  const finding = judge(path, stats);
  return finding === null ? [] : [finding];
}

/** Deeper than any real agent's folder. */
const maxDepth = 6;

async function lookIn(path: string, judge: Judge, depth = 0): Promise<Finding[]> {
  const own = await lookAt(path, judge);
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  const inner = await Promise.all(
    entries.map((entry) => {
      const child = join(path, entry.name);
      const goesOn = entry.isDirectory() && entry.name !== "node_modules" && depth < maxDepth;
      return goesOn ? lookIn(child, judge, depth + 1) : lookAt(child, judge);
    }),
  );
  return [...own, ...inner.flat()];
}

/** A scheduler once started with sudo leaves files that the next one can't write. */
async function lookInside(stateDir: string): Promise<Finding[]> {
  const [first] = await lookIn(stateDir, isOwn);
  if (first === undefined || first.where === stateDir) return [];
  const { uid } = await lstat(stateDir);
  return [{ ...first, fix: ownerFix(stateDir, uid) }];
}

function isOwn(path: string, { uid }: Stats): Finding | null {
  if (uid === process.getuid?.()) return null;
  const text = `it belongs to another OS user (id ${uid})`;
  return finding("error", text, path, ownerFix(path, uid));
}

/** Root can read another user's files, but must not take them from that user: al is run as the owner instead. */
function ownerFix(path: string, owner: number): string {
  if (process.getuid?.() !== 0) return `sudo chown -R "$(id -u)" ${shellWord(path)}`;
  if (owner !== 0) return `run al as its owner instead of root: sudo -u '#${owner}' al …`;
  return `chown -R root ${shellWord(path)}`;
}

function isPrivate(path: string, stats: Stats): Finding | null {
  const foreign = isOwn(path, stats);
  if (foreign !== null) return foreign;
  if ((stats.mode & 0o077) === 0) return null;
  const mode = stats.isDirectory() ? "700" : "600";
  return finding(
    "error",
    `it is open to other users (mode ${octal(stats)})`,
    path,
    `chmod ${mode} ${shellWord(path)}`,
    () => chmod(path, Number.parseInt(mode, 8)),
  );
}

function isOthersToWrite(path: string, stats: Stats): Finding | null {
  if ((stats.mode & 0o002) === 0) return null;
  return finding(
    "warning",
    `every OS user can change it (mode ${octal(stats)}), and with it what agents do`,
    path,
    `chmod o-w ${shellWord(path)}`,
    () => chmod(path, stats.mode & 0o7775),
  );
}

function octal({ mode }: Stats): string {
  return (mode & 0o777).toString(8);
}
