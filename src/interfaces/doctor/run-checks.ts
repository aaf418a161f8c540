import { messageOf } from "../../foundation/errors.ts";
import { finding, type Check, type Finding } from "./finding.ts";
import { readDoctorContext, type DoctorContext, type DoctorOptions } from "./doctor-context.ts";
import { alerts } from "./checks/alerts.ts";
import { apiKey, credentials, webhooks, dashboardSecret } from "./checks/secrets.ts";
import { budget } from "./checks/budget.ts";
import { cluster } from "./checks/cluster.ts";
import { clock, schedules } from "./checks/clock.ts";
import { config, agents, editor } from "./checks/config.ts";
import { disk, watches, database } from "./checks/machine.ts";
import { dockerfiles } from "./checks/dockerfiles.ts";
import { engine, containers, selinux } from "./checks/engine.ts";
import { githubApp } from "./checks/github-app.ts";
import { hooks } from "./checks/hooks.ts";
import { hostUser } from "./checks/host-user.ts";
import { mcp } from "./checks/mcp.ts";
import { slots } from "./checks/slots.ts";
import { telemetry } from "./checks/telemetry.ts";
import { models } from "./checks/models.ts";
import { network, closedNetwork, hosts } from "./checks/network.ts";
import { workspace } from "./checks/workspace.ts";
import { permissions } from "./checks/permissions.ts";
import { scheduler, port } from "./checks/scheduler.ts";

/** A finding with the check that it is from. */
export interface CheckFinding extends Omit<Finding, "repair"> {
  readonly check: string;
}

export interface RunChecksOptions extends DoctorOptions {
  /** Whether to repair errors that need no question. */
  readonly repair: boolean;
}

/** Runs all checks, one after the other, and yields the findings of each as soon as it has ended. Never throws. */
export async function* runChecks(options: RunChecksOptions): AsyncGenerator<CheckFinding> {
  const context = await readDoctorContext(options);
  for (const [name, check] of checks) {
    const first = await runCheck(check, context);
    const repairedNow = options.repair ? await repaired(first) : new Set<Finding>();
    const now = repairedNow.size === 0 ? first : await runCheck(check, context);
    const left = new Set(now.map(keyOf));
    const fixed = first.filter((finding) => repairedNow.has(finding) && !left.has(keyOf(finding)));
    for (const finding of fixed)
      yield checkFinding(name, { ...finding, severity: "fixed", fix: null });
    for (const finding of now) yield checkFinding(name, finding);
  }
}

/** A check that throws becomes a finding; the other checks still run. */
async function runCheck(check: Check, context: DoctorContext): Promise<readonly Finding[]> {
  try {
    return await check(context);
  } catch (error) {
    const problem = `this could not be checked: ${messageOf(error)}`;
    return [finding("error", problem, null, null)];
  }
}

const reasons = new WeakMap<Finding, string>();

/** Repairs the findings that have a repair; returns the repaired ones. */
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

function checkFinding(name: string, finding: Finding): CheckFinding {
  const { severity, what, where, fix } = finding;
  const reason = reasons.get(finding);
  const tried = reason === undefined ? "" : `; it could not be repaired: ${reason}`;
  return { check: name, severity, what: `${what}${tried}`, where, fix };
}

/** All checks in the order in which they run. */
const checks: readonly (readonly [name: string, check: Check])[] = [
  ["config", config],
  ["agents", agents],
  // Runs before checks that read secrets: an exposed secret is not read.
  ["permissions", permissions],
  ["api key", apiKey],
  ["models", models],
  ["budget", budget],
  ["credentials", credentials],
  ["github app", githubApp],
  ["workspace", workspace],
  ["webhooks", webhooks],
  ["hooks at providers", hooks],
  ["alerts", alerts],
  ["telemetry", telemetry],
  ["schedules", schedules],
  ["slots", slots],
  ["network", network],
  ["mcp servers", mcp],
  ["host users", hostUser],
  ["closed network", closedNetwork],
  ["hosts", hosts],
  ["engine", engine],
  ["selinux", selinux],
  ["cluster", cluster],
  ["dockerfiles", dockerfiles],
  ["scheduler", scheduler],
  ["containers", containers],
  ["port", port],
  ["disk", disk],
  ["watches", watches],
  ["clock", clock],
  ["database", database],
  ["environment", dashboardSecret],
  ["editor", editor],
];
