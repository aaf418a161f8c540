import { expect } from "vitest";
import type { CheckFinding } from "../../../src/interfaces/doctor/run-checks.ts";
import type { Ward } from "./support.ts";

/** One fault that somebody made. */
export interface Fault {
  readonly name: string;
  readonly seed: () => unknown;
  readonly severity: "error" | "warning";
  readonly says: RegExp;
  /** What the fix that is suggested reads like. */
  readonly fix: RegExp;
  /** Does what the fix says where it is no command; otherwise the fix itself is run. */
  readonly repair?: (finding: CheckFinding) => unknown;
}

/** The ward of the test that runs. */
export type TheWard = () => Ward;

export const agentConfig = "agents/dev/config.toml";

/** A text that is changed, and changed back in the line that the fix names. */
export function edits(ward: TheWard, from: string, to: string, path = agentConfig) {
  return {
    seed: () => ward().edit(path, from, to),
    repair: (finding: CheckFinding) => editThere(ward, finding, to, from),
  };
}

/** Edits the line that the fix names, or the whole file where it names none. */
export function editThere(ward: TheWard, { fix }: CheckFinding, from: string, to: string): void {
  const [, path = "", line] = /^edit (.+?)(?::(\d+):\d+)?$/.exec(fix ?? "") ?? [];
  ward().edit(path, from, to, line === undefined ? null : Number(line));
}

/** Runs the command that follows the last colon of the fix. */
export async function runLast(ward: TheWard, { fix }: CheckFinding): Promise<void> {
  const { code, output } = await ward().bash((fix ?? "").replace(/^.*: /, ""));
  expect({ code, output }).toMatchObject({ code: 0 });
}

/** Runs the fix as somebody who types a secret when asked. */
export async function typeSecret(ward: TheWard, { fix }: CheckFinding): Promise<void> {
  const { code, output } = await ward().bash(`echo secret-0123456789 | ${fix ?? ""}`);
  expect({ code, output }).toMatchObject({ code: 0 });
}

/** An agent that needs nothing. */
export const plainAgent =
  'models = ["scripted"]\ncredentials = []\nschedule = "* * * * *"\n[runtime]\ntype = "host-user"\nrun_as = "$USER"\n';
