import { messageOf } from "../../foundation/errors.ts";
import { checks } from "./checks.ts";
import type { Check, Finding } from "./finding.ts";
import { readDoctorContext } from "./doctor-context.ts";
import type { DoctorContext, DoctorOptions } from "./doctor-context.ts";

/** A finding with the check that it is from. */
export interface CheckFinding extends Omit<Finding, "repair"> {
  readonly check: string;
}

export interface RunChecksOptions extends DoctorOptions {
  /** Repairs what can be repaired without asking. */
  readonly repair: boolean;
}

/** Runs all checks, one after the other, and yields the findings of each as soon as it is done. Never throws. */
export async function* runChecks(options: RunChecksOptions): AsyncGenerator<CheckFinding> {
  const context = await readDoctorContext(options);
  for (const check of checks) {
    const first = await runCheck(check, context);
    const repairedNow = options.repair ? await repaired(first) : new Set<Finding>();
    const now = repairedNow.size === 0 ? first : await runCheck(check, context);
    const left = new Set(now.map(keyOf));
    const fixed = first.filter((finding) => repairedNow.has(finding) && !left.has(keyOf(finding)));
    for (const finding of fixed)
      yield checkFinding(check, { ...finding, severity: "fixed", fix: null });
    for (const finding of now) yield checkFinding(check, finding);
  }
}

/** A check that throws becomes a finding; the other checks still run. */
async function runCheck(check: Check, context: DoctorContext): Promise<readonly Finding[]> {
  try {
    return await check.run(context);
  } catch (error) {
    const what = `this could not be checked: ${messageOf(error)}`;
    return [{ severity: "error", what, where: null, fix: null }];
  }
}

const reasons = new WeakMap<Finding, string>();

/** Repairs what can be repaired; the findings that were. */
async function repaired(findings: readonly Finding[]): Promise<Set<Finding>> {
  const fixed = new Set<Finding>();
  for (const finding of findings) {
    try {
      if (finding.repair === undefined) continue;
      await finding.repair();
      fixed.add(finding);
    } catch (error) {
      reasons.set(finding, messageOf(error));
    }
  }
  return fixed;
}

function keyOf({ what, where }: Finding): string {
  return `${what}\n${where ?? ""}`;
}

function checkFinding({ name }: Check, finding: Finding): CheckFinding {
  const { severity, what, where, fix } = finding;
  const reason = reasons.get(finding);
  const tried = reason === undefined ? "" : `; it could not be repaired: ${reason}`;
  return { check: name, severity, what: `${what}${tried}`, where, fix };
}
