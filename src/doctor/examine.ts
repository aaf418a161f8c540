import { messageOf } from "../errors.ts";
import { checks } from "./checks.ts";
import type { Check, Finding } from "./finding.ts";
import { readPatient } from "./patient.ts";
import type { Patient, Surroundings } from "./patient.ts";

/** A finding with the check that it is from. */
export interface Diagnosis extends Omit<Finding, "repair"> {
  readonly check: string;
}

export interface ExamineOptions extends Surroundings {
  /** Whether what can be cured without asking is cured. */
  readonly repair: boolean;
}

/** Makes all checks, one after the other, and tells each check's findings as soon as they are there. Never throws. */
export async function* examine(options: ExamineOptions): AsyncGenerator<Diagnosis> {
  const patient = await readPatient(options);
  for (const check of checks) {
    const first = await lookWith(check, patient);
    const cured = options.repair ? await repaired(first) : new Set<Finding>();
    const now = cured.size === 0 ? first : await lookWith(check, patient);
    const left = new Set(now.map(keyOf));
    const fixed = first.filter((finding) => cured.has(finding) && !left.has(keyOf(finding)));
    for (const finding of fixed)
      yield diagnosis(check, { ...finding, severity: "fixed", fix: null });
    for (const finding of now) yield diagnosis(check, finding);
  }
}

/** A check that fails itself is a finding, and no reason to leave the others out. */
async function lookWith(check: Check, patient: Patient): Promise<readonly Finding[]> {
  try {
    return await check.look(patient);
  } catch (error) {
    const what = `this could not be checked: ${messageOf(error)}`;
    return [{ severity: "error", what, where: null, fix: null }];
  }
}

const reasons = new WeakMap<Finding, string>();

/** Those that could be cured. */
async function repaired(findings: readonly Finding[]): Promise<Set<Finding>> {
  const cured = new Set<Finding>();
  for (const finding of findings) {
    try {
      if (finding.repair === undefined) continue;
      await finding.repair();
      cured.add(finding);
    } catch (error) {
      reasons.set(finding, messageOf(error));
    }
  }
  return cured;
}

function keyOf({ what, where }: Finding): string {
  return `${what}\n${where ?? ""}`;
}

function diagnosis({ name }: Check, finding: Finding): Diagnosis {
  const { severity, what, where, fix } = finding;
  const reason = reasons.get(finding);
  const tried = reason === undefined ? "" : `; it could not be repaired: ${reason}`;
  return { check: name, severity, what: `${what}${tried}`, where, fix };
}
