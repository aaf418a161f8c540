import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { whyNoOsUsers } from "../../helpers/os-users.ts";
import { agentConfig } from "./fault.ts";
import type { Fault, TheWard } from "./fault.ts";
import type { Closing } from "./support.ts";

/** Faults of OS users, of the folder of runs and of the disk. Most can be made by root only. */
export function rootFaults(ward: TheWard, close: Closing): readonly Fault[] {
  const link: Fault = {
    name: "a link in the place of the folder of runs",
    seed: () => symlinkSync(ward().home, ward().runsDir),
    severity: "error",
    says: /the folder of runs is a link/,
    fix: /^(sudo )?rm \/.+\/al-runs$/,
  };
  const why = whyNoOsUsers();
  if (why === null) return [link, ...ofUsers(ward, close), ...ofDisks(ward, close)];
  process.stderr.write(`skipped: faults of OS users and disks (${why})\n`);
  return [link];
}

function ofUsers(ward: TheWard, close: Closing): readonly Fault[] {
  const name = `al-seeded-${process.pid}`;
  const remove = () => {
    spawnSync("userdel", [name]);
    const rules = ["-c", `grep -ls -- '${ward().dir}' /etc/sudoers.d/* | xargs -r rm -f`];
    execFileSync("sh", rules);
  };
  return [
    {
      name: "a missing OS user",
      seed: () => {
        close({ close: remove });
        ward().edit(agentConfig, '"$USER"', `"${name}"`);
        // As a scheduler makes it whose agents all run as its own user.
        mkdirSync(ward().runsDir, { mode: 0o700 });
      },
      severity: "error",
      says: new RegExp(`the OS user ${name} does not exist`),
      fix: /^al doctor -p /,
    },
    {
      name: "a folder of runs that is somebody else's",
      seed: () => {
        mkdirSync(ward().runsDir);
        chownSync(ward().runsDir, 65534, 65534);
      },
      severity: "error",
      says: /the folder of runs belongs to another OS user \(id 65534\)/,
      fix: /^install -d -o root -m 1777 \/.+\/al-runs$/,
    },
    {
      name: "state that is somebody else's",
      seed: () => {
        mkdirSync(join(ward().dir, ".al"), { mode: 0o700 });
        writeFileSync(join(ward().dir, ".al/state.db"), "", { mode: 0o600 });
        chownSync(join(ward().dir, ".al/state.db"), 65534, 65534);
      },
      severity: "error",
      says: /it belongs to another OS user \(id 65534\)/,
      fix: /^chown -R root \/.+\/\.al$/,
    },
  ];
}

function ofDisks(ward: TheWard, close: Closing): readonly Fault[] {
  return [
    {
      name: "a disk that is nearly full",
      seed: () => {
        const disk = join(dirname(ward().dir), "disk");
        mkdirSync(disk);
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=530m,mode=0700", "tmpfs", disk]);
        close({ close: () => execFileSync("umount", ["--lazy", disk]) });
        ward().env.TMPDIR = disk;
        writeFileSync(join(disk, "big file"), Buffer.alloc(24 * 1024 ** 2));
      },
      severity: "warning",
      says: /^only 50\d MiB are free$/,
      fix: /^free some space: du -xah /,
      repair: async ({ fix }) => {
        const { output } = await ward().bash((fix ?? "").replace("free some space: ", ""));
        const biggest = output.split("\n").filter((line) => line.endsWith("/big file"));
        expect(biggest).toHaveLength(1);
        rmSync((biggest[0] ?? "").replace(/^.*?\t/, ""));
      },
    },
  ];
}
