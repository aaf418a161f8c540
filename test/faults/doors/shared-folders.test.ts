import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, lstat, mkdir, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { closeSync } from "node:fs";
import { join } from "node:path";
import {
  clearedSocket,
  makeSocketDir,
  removeSocketDir,
} from "../../../src/runtime/run-api/socket-dir.ts";
import {
  ownBaseDir,
  shareBaseDir,
  whyUnsafe,
} from "../../../src/runtime/runners/host-user/base-dir.ts";
import {
  createLog,
  logPathOf,
  readRunRecord,
  workDirOf,
} from "../../../src/runtime/runners/host-user/run-files.ts";
import { removeWorkDir } from "../../../src/runtime/runners/host-user/work-dir.ts";
import { asUser, tempUser, uidOf, whyNoOsUsers } from "../../helpers/os-users.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { perFile } from "../../helpers/per-test.ts";

const missing = whyNoOsUsers();

describe.skipIf(missing !== null)("a shared folder in /tmp that another user created first", () => {
  let shared: string;
  let target: string;
  let base: string;
  const attacker = perFile(tempUser, (attacker) => attacker.remove());
  beforeEach(async () => {
    shared = tempDir();
    // As /tmp is.
    await chmod(shared, 0o1777);
    [target, base] = [join(shared, "target"), join(shared, "al-runs")];
    await as(`mkdir ${target} && chmod 777 ${target}`);
  });

  /** A line that runs as the attacker. */
  function begun(line: string) {
    const args = asUser(attacker(), "/bin/sh", "-c", line);
    const child = spawn("setpriv", args, { stdio: "ignore" });
    return { child, ended: once(child, "exit") };
  }
  const as = (line: string) => begun(line).ended;

  test.each([
    ["a link to a folder of theirs", () => `ln -s ${target} ${base}`],
    ["a link to nothing yet", () => `ln -s ${shared}/later ${base}`],
    ["a folder of theirs", () => `mkdir -m 777 ${base}`],
    ["a pipe", () => `mkfifo -m 666 ${base}`],
  ])("a folder planted by another user is refused and not changed: %s", async (...row) => {
    const [, prepare] = row;
    await as(prepare());
    const before = await stat(target);
    await expect(ownBaseDir(base, true)).rejects.toThrow();
    expect(await readdir(target)).toEqual([]);
    expect((await stat(target)).mode).toBe(before.mode);
    expect(await readdir(shared)).not.toContain("later");
  });

  test(
    "can't be swapped by endless attempts, nor can the files in it",
    { timeout: 60_000 },
    async () => {
      await ownBaseDir(base, true);
      const attack = `while :; do mv ${base} ${shared}/away; ln -sfn ${target} ${base}; for n in 1 2 3; do ln -s ${target}/x ${base}/dev-$n.log; mkdir -m 777 ${base}/dev-$n; done; done`;
      const { child, ended } = begun(attack);
      await expect.poll(() => readdir(base)).not.toEqual([]);
      for (let n = 0; n < 300; n += 1) {
        await ownBaseDir(base, true);
        closeSync(createLog(logPathOf(base, `ours-${n}`)));
        const dir = makeSocketDir(base);
        await writeFile(clearedSocket(dir), "");
        await removeSocketDir(dir);
      }
      child.kill("SIGKILL");
      await ended;
      expect(await readdir(target)).toEqual([]);
      // Where a name could be guessed, the link is not written through, and a record in it is nobody's.
      for (const n of [1, 2, 3]) {
        const path = logPathOf(base, `dev-${n}`);
        expect(() => createLog(path)).toThrow("cannot be created");
        expect(await readRunRecord(path)).toBeNull();
      }
      expect(await readdir(target)).toEqual([]);
      expect((await lstat(base)).isDirectory()).toBe(true);
    },
  );

  test("is accepted for all users only if root made it as /tmp is", async () => {
    const theirs = `belongs to another OS user (id ${uidOf(attacker())})`;
    const whyNot = async () => whyUnsafe(await lstat(base), uidOf(attacker()) + 1);
    await mkdir(base);
    for (const [mode, why] of [
      [0o1777, null],
      [0o1733, null],
      // Without the sticky bit whoever may write may also rename.
      [0o777, "belongs to root alone"],
      [0o755, "belongs to root alone"],
    ] as const) {
      await chmod(base, mode);
      expect(await whyNot()).toBe(why);
    }
    await rm(base, { recursive: true });
    await as(`mkdir ${base} && chmod 1777 ${base}`);
    expect(await whyNot()).toBe(theirs);
  });

  test("in place of a run's working directory is not removed with the run", async () => {
    await ownBaseDir(base, true);
    const workDir = workDirOf(base, "dev-1");
    await as(`mkdir ${workDir} && touch ${workDir}/theirs`);
    await expect(removeWorkDir(workDir)).rejects.toThrow("belongs to another OS user");
    expect(await readdir(workDir)).toEqual(["theirs"]);
  });

  test("keeps its mode if root created it for all users", async () => {
    execFileSync("sh", ["-c", shareBaseDir(base)]);
    await ownBaseDir(base, true);
    expect((await stat(base)).mode & 0o7777).toBe(0o1777);
  });

  test("gets no run socket once it belongs to another user or is a link", async () => {
    await ownBaseDir(base, true);
    const dir = makeSocketDir(base);
    await removeSocketDir(dir);
    await as(`ln -s ${target} ${dir}`);
    expect(() => clearedSocket(dir)).toThrow("not the scheduler's own folder");
    await rm(dir);
    await as(`mkdir -m 777 ${dir}`);
    expect(() => clearedSocket(dir)).toThrow("not the scheduler's own folder");
    await rm(dir, { recursive: true });
    await symlink(target, dir);
    await removeSocketDir(dir);
    expect((await stat(target)).isDirectory()).toBe(true);
  });
});
