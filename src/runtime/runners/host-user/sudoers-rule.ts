import { createHash } from "node:crypto";
import { Problem } from "../../../foundation/errors.ts";
import type { Program } from "../../wire/supervisor-order.ts";

/** Matches the name of any agent in a rule's program. */
export const anyAgent = "[a-z0-9]*";

export interface SudoersRule {
  /** The OS user that runs the scheduler. */
  readonly scheduler: string;
  /** The OS user that agents run as. */
  readonly runAs: string;
  /** The program that the scheduler starts, for `anyAgent`. */
  readonly program: Program;
}

/**
 * The text of a file for /etc/sudoers.d that lets the scheduler only start runs as another user: this program with these
 * arguments, without a password, and with no variable of the scheduler's. Throws a Problem if a path can't be written
 * in it. The syntax is that of sudoers(5).
 */
export function sudoersRule({ scheduler, runAs, program }: SudoersRule): string {
  const command = [program.file, ...program.args].map(escaped).join(" ");
  const id = createHash("sha256").update([scheduler, runAs, command].join("\n")).digest("hex");
  // An alias may exist only once in all files together.
  const alias = `ALMANAC_${id.slice(0, 12).toUpperCase()}`;
  return [
    `# Almanac: ${scheduler} may start agents as ${runAs}, and nothing else.`,
    `Cmnd_Alias ${alias} = ${command}`,
    `Defaults!${alias} env_reset, !requiretty, !use_pty`,
    `${escaped(scheduler)} ALL=(${escaped(runAs)}) NOPASSWD: NOSETENV: ${alias}`,
    "",
  ].join("\n");
}

function escaped(word: string): string {
  if (/[\u0000-\u001f\\]/.test(word)) {
    throw new Problem(
      "sudoers_rule",
      `${JSON.stringify(word)} cannot be part of a sudoers rule`,
      "Use a path without backslashes and control characters.",
    );
  }
  return word === anyAgent ? word : word.replaceAll(/[,:= #*?[\]!]/g, "\\$&");
}
