import { execFile, execFileSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { sudoersRule, type SudoersRule } from "../../src/runtime/runners/host-user/sudoers-rule.ts";
import { pause } from "./pause.ts";

const run = promisify(execFile);

/** Why tests with other OS users cannot run here; null when they can. */
export function whyNoOsUsers(): string | null {
  if (process.getuid?.() !== 0) return "not root";
  for (const [program, argument] of [
    ["sudo", "--version"],
    ["useradd", "--help"],
    ["setpriv", "--version"],
  ] as const) {
    try {
      execFileSync(program, [argument], { stdio: "ignore" });
    } catch {
      return `there is no ${program}`;
    }
  }
  return readableByAll() ? null : "other users cannot read this checkout";
}

function readableByAll(): boolean {
  try {
    const nobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    execFileSync("setpriv", [...nobody, "test", "-r", import.meta.filename], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

let count = 0;

/** Makes a system user without a home and a login, whose name says which test run it belongs to. */
export async function tempUser() {
  const name = `al-test-${process.env.AL_TEST_RUN ?? ""}-${process.pid}-${++count}`;
  await patiently("useradd", ["--system", "--shell", "/usr/sbin/nologin", "--user-group", name]);
  return { name, remove: () => patiently("userdel", [name]) };
}

/** An OS user that exists for a test. */
export type OsUser = Awaited<ReturnType<typeof tempUser>>;

/** Puts a rule in force; the returned function takes it out again. */
export async function withSudoersRule(text: string): Promise<() => Promise<void>> {
  const path = `/etc/sudoers.d/al-test-${process.pid}-${++count}`;
  await writeFile(path, text, { mode: 0o440 });
  return () => rm(path, { force: true });
}

/** The OS users of agents and of an unprivileged scheduler, with the one rule that lets it run agents by `program`. */
export async function agentUsers(program: SudoersRule["program"]) {
  const [agentUser, schedulerUser] = [await tempUser(), await tempUser()];
  const names = { scheduler: schedulerUser.name, runAs: agentUser.name };
  const takeRuleOut = await withSudoersRule(sudoersRule({ ...names, program }));
  return {
    agentUser,
    schedulerUser,
    remove: async () => {
      await takeRuleOut();
      await agentUser.remove();
      await schedulerUser.remove();
    },
  };
}

/** The number of a user. */
export function uidOf({ name }: OsUser): number {
  return Number(execFileSync("id", ["-u", name], { encoding: "utf8" }));
}

/** Arguments of setpriv that run a program as this user. */
export function asUser({ name }: OsUser, ...program: readonly string[]): readonly string[] {
  return ["--reuid", name, "--regid", name, "--clear-groups", ...program];
}

/** Another test may hold the lock of the users' file. */
async function patiently(program: string, args: readonly string[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await run(program, [...args]);
      return;
    } catch (error) {
      if (attempt === 10) throw error;
      await pause(200, "another test holds the lock of the users' file");
    }
  }
}
