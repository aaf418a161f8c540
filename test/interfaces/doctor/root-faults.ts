import { execFileSync, spawnSync } from "node:child_process";
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { whyNoOsUsers } from "../../helpers/os-users.ts";
import { error, warning, type Fault } from "./fault.ts";
import { agentConfig, ward } from "./support.ts";

/** Faults of OS users, of the folder of runs and of the disk. Most can be made by root only. */
export function rootFaults(): readonly Fault[] {
  const link = error("the folder of runs is a link", /^(sudo )?rm \/.+\/al-runs$/, () =>
    symlinkSync(ward.home, ward.runsDir),
  );
  const why = whyNoOsUsers();
  if (why === null) return [link, ...ofUsers(), ...ofDisks()];
  process.stderr.write(`skipped: faults of OS users and disks (${why})\n`);
  return [link];
}

function ofUsers(): readonly Fault[] {
  const name = `al-seeded-${process.pid}`;
  const remove = () => {
    spawnSync("userdel", [name]);
    const rules = ["-c", `grep -ls -- '${ward.dir}' /etc/sudoers.d/* | xargs -r rm -f`];
    execFileSync("sh", rules);
  };
  return [
    error(`the OS user ${name} does not exist`, /^al doctor -p /, () => {
      onTestFinished(remove);
      ward.edit(agentConfig, '"$USER"', `"${name}"`);
      // As a scheduler makes it whose agents all run as its own user.
      mkdirSync(ward.runsDir, { mode: 0o700 });
    }),
    error(
      "the folder of runs belongs to another OS user (id 65534)",
      /^install -d -o root -m 1777 \/.+\/al-runs$/,
      () => {
        mkdirSync(ward.runsDir);
        chownSync(ward.runsDir, 65534, 65534);
      },
    ),
    error("it belongs to another OS user (id 65534)", /^chown -R root \/.+\/\.al$/, () => {
      mkdirSync(join(ward.dir, ".al"), { mode: 0o700 });
      writeFileSync(join(ward.dir, ".al/state.db"), "", { mode: 0o600 });
      chownSync(join(ward.dir, ".al/state.db"), 65534, 65534);
    }),
  ];
}

function ofDisks(): readonly Fault[] {
  return [
    warning(
      /^only 50\d MiB are free$/,
      /^free some space: du -xah /,
      () => {
        const disk = mkdtempSync(join(tmpdir(), "al-disk-"));
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=530m,mode=0700", "tmpfs", disk]);
        onTestFinished(() => {
          execFileSync("umount", ["--lazy", disk]);
          rmdirSync(disk);
        });
        ward.env.TMPDIR = disk;
        writeFileSync(join(disk, "big file"), Buffer.alloc(24 * 1024 ** 2));
      },
      async ({ fix }) => {
        const output = await ward.run((fix ?? "").replace("free some space: ", ""));
        const biggest = output.split("\n").filter((line) => line.endsWith("/big file"));
        expect(biggest).toHaveLength(1);
        rmSync((biggest[0] ?? "").replace(/^.*?\t/, ""));
      },
    ),
  ];
}
