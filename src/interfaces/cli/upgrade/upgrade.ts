import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { promisify } from "node:util";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import { readSchedulerInfo } from "../../../foundation/store/project-lock.ts";
import { packageVersion, programDir } from "../../../foundation/version.ts";
import type { Context } from "../context.ts";

const newPackage = "git pull && npm run setup && npm pack     # in a clone: writes the new package";
const restart = "al stop && al start --web-ui               # once for each project";

/** The ways of installation, and the commands that upgrade each; `folder` is the program's. */
const upgrades = {
  container: () => [
    "git pull && docker compose up --detach --build     # in examples/deploy of the clone",
  ],
  clone: (folder: string) => [
    `git -C ${shellWord(folder)} pull`,
    `npm --prefix ${shellWord(folder)} run setup`,
    restart,
  ],
  npx: () => [newPackage, "npx ./almanac-<version>.tgz start --web-ui"],
  global: () => [newPackage, "npm install --global ./almanac-<version>.tgz", restart],
  dependency: (folder: string) => [
    newPackage,
    `npm install --prefix ${shellWord(dirname(dirname(folder)))} <clone>/almanac-<version>.tgz`,
    restart,
  ],
} satisfies Record<string, (folder: string) => readonly string[]>;

type Installation = keyof typeof upgrades;

/** How the program in this folder was installed. */
export function installationOf(folder: string): Installation {
  if (folder === "/opt/almanac") return "container";
  if (basename(dirname(folder)) !== "node_modules") return "clone";
  if (folder.split(sep).includes("_npx")) return "npx";
  // npm's folder of global packages, which on Windows has no `lib`, has no manifest above it.
  return existsSync(join(folder, "../../package.json")) ? "dependency" : "global";
}

/** Prints how to upgrade, and with `--check` what is known of newer versions without a network. */
export async function printUpgrade(
  { out, projectDir }: Context,
  { check }: { readonly check?: true },
  folder = programDir(),
): Promise<void> {
  const version = packageVersion();
  const installation = installationOf(folder);
  const commands = upgrades[installation](folder);
  const head = `Almanac ${version} (${installation}) in ${folder}`;
  if (check !== true) {
    return out.answer({ version, installation, folder, commands }, [head, ...commands].join("\n"));
  }
  const running = readSchedulerInfo(projectDir)?.version ?? null;
  const behind = installation === "clone" ? await commitsBehind(folder) : null;
  const facts = [
    head,
    ...(running === null || running === version
      ? []
      : [`The scheduler of ${projectDir} still runs ${running}: restart it.`]),
    behind === null
      ? "Newer versions are unknown here: compare with CHANGELOG.md of the source."
      : `${behind} newer commits at the last git fetch.`,
  ];
  out.answer({ version, installation, folder, running, behind }, facts.join("\n"));
}

/** Commits of the clone's upstream that it lacks, as of its last fetch; null without an upstream. */
async function commitsBehind(cwd: string): Promise<number | null> {
  const args = ["--no-optional-locks", "rev-list", "--count", "HEAD..@{upstream}"];
  const found = await promisify(execFile)("git", args, { cwd }).catch(() => null);
  return found === null ? null : Number(found.stdout);
}
