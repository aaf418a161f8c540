import type { Diagnosis } from "../../src/doctor/examine.ts";
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
  readonly cure?: (finding: Diagnosis) => unknown;
}

/** The ward of the test that runs. */
export type TheWard = () => Ward;

export const agentConfig = "agents/dev/config.toml";

/** A text that is changed, and changed back. */
export function edits(ward: TheWard, from: string, to: string, path = agentConfig) {
  return {
    seed: () => ward().edit(path, from, to),
    cure: () => ward().edit(path, to, from),
  };
}

/** An agent that needs nothing. */
export const plainAgent =
  'models = ["scripted"]\ncredentials = []\nschedule = "* * * * *"\n[runtime]\ntype = "host-user"\nrun_as = "$USER"\n';
