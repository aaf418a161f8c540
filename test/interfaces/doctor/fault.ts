import type { CheckFinding } from "../../../src/interfaces/doctor/run-checks.ts";
import { agentConfig, ward } from "./support.ts";

type Seed = () => unknown;
type Repair = (finding: CheckFinding) => unknown;

/** A seeded fault, the finding that it causes, and its repair; without a repair the fix itself is run. */
export interface Fault {
  readonly severity: "error" | "warning";
  /** A part of the finding's text. */
  readonly says: string | RegExp;
  readonly fix: RegExp;
  readonly seed: Seed;
  readonly repair?: Repair;
}

/** The text and the fix of the finding, a seed, and a repair where the fix is not a command. */
type Given = [
  says: Fault["says"],
  fix: RegExp,
  how: Seed | { readonly seed: Seed; readonly repair: Repair },
  repair?: Repair,
];

function fault(severity: Fault["severity"], [says, fix, how, repair]: Given): Fault {
  const made = typeof how === "function" ? { seed: how } : how;
  return { severity, says, fix, ...made, ...(repair && { repair }) };
}

export const error = (...given: Given) => fault("error", given);
export const warning = (...given: Given) => fault("warning", given);

/** A text that is changed, and changed back in the line that the fix names. */
export function edits(from: string, to: string, path = agentConfig) {
  return {
    seed: () => ward.edit(path, from, to),
    repair: (finding: CheckFinding) => editThere(finding, to, from),
  };
}

/** Edits the line that the fix names, or the whole file where it names none. */
export function editThere({ fix }: CheckFinding, from: string, to: string): void {
  const [, path = "", line] = /^edit (.+?)(?::(\d+):\d+)?$/.exec(fix ?? "") ?? [];
  ward.edit(path, from, to, line === undefined ? null : Number(line));
}

/** Runs the command that follows the last colon of the fix. */
export async function runLast({ fix }: CheckFinding): Promise<void> {
  await ward.run((fix ?? "").replace(/^.*: /, ""));
}

/** A credential that is missing once this is done; a person adds it, with a file in place of the typed secret. */
export function lacks(type: string, seed: Seed, severity: Fault["severity"] = "error"): Fault {
  const fix = new RegExp(`^al creds add ${type}$`);
  return fault(severity, [`credential ${type} is missing`, fix, seed, typeSecret]);
}

/** Runs the fix with a file in place of a person who types the secret. */
export async function typeSecret({ fix }: CheckFinding): Promise<void> {
  ward.write("secret", "secret-0123456789\n");
  await ward.run(`${fix ?? ""} --from-file ${ward.dir}/secret`);
}

/** An agent that needs nothing. */
export const plainAgent =
  'models = ["scripted"]\ncredentials = []\nschedule = "* * * * *"\n[runtime]\ntype = "host-user"\nrun_as = "$USER"\n';
