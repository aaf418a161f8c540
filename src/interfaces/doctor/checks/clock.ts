import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isTimezone } from "../../../foundation/config/timezone.ts";
import type { Check, Finding } from "../finding.ts";
import { ok } from "../finding.ts";
import type { DoctorContext } from "../doctor-context.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";

/** A file system's clock may be a little ahead, in ms. */
const tolerance = 5 * 60_000;

/** Whether the clock and the time zone are right: schedules, timeouts and webhook signatures go by them. */
export const clock: Check = {
  name: "clock",
  run: async (context) => {
    const found = [...zone(context), ...(await ahead(context)), ...(await unsynchronized(context))];
    const timeZone = context.project?.timezone;
    if (found.length > 0 || timeZone === undefined) return found;
    const time = new Date().toLocaleTimeString("en-GB", { timeZone, timeStyle: "short" });
    return [ok(`schedules go by ${timeZone}, where it is ${time}`)];
  },
};

function zone({ env }: DoctorContext): Finding[] {
  const name = env.TZ?.replace(/^:/, "") ?? "";
  if (name === "" || isTimezone(name)) return [];
  return [
    {
      severity: "warning",
      what: `TZ is ${JSON.stringify(name)}, which is no IANA time zone, so UTC counts`,
      where: "TZ",
      fix: "export TZ=Europe/Berlin (or your own), or set timezone in config.toml",
    },
  ];
}

/** What the scheduler wrote can't be younger than now. */
async function ahead({ projectDir }: DoctorContext): Promise<Finding[]> {
  const logs = join(projectDir, ".al", "logs");
  const names = await readdir(logs).catch(() => []);
  const files = [join(projectDir, ".al", "state.db"), ...names.map((name) => join(logs, name))];
  for (const path of files) {
    const written = (await stat(path).catch(() => null))?.mtimeMs ?? 0;
    if (written <= Date.now() + tolerance) continue;
    const what = `the clock went back: this was written at ${new Date(written).toISOString()}`;
    const fix = `set the clock; if it is right: touch ${shellWord(path)}`;
    return [{ severity: "warning", what, where: path, fix }];
  }
  return [];
}

/** Asks systemd, where there is one. */
async function unsynchronized({ env }: DoctorContext): Promise<Finding[]> {
  const args = ["show", "-p", "NTPSynchronized", "--value"];
  const answer = await promisify(execFile)("timedatectl", args, { env, timeout: 5000 }).catch(
    () => null,
  );
  if (answer?.stdout.trim() !== "no") return [];
  const what = "the clock is not synchronized with a time server";
  return [
    { severity: "warning", what, where: "timedatectl", fix: "sudo timedatectl set-ntp true" },
  ];
}
