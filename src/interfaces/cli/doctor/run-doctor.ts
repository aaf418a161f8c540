import { setTimeout as sleep } from "node:timers/promises";
import { counted } from "../../../foundation/contracts/format.ts";
import { runChecks, type CheckFinding } from "../../doctor/run-checks.ts";
import type { Severity } from "../../doctor/finding.ts";
import type { Context } from "../context.ts";
import { plain } from "../terminal/format.ts";
import type { Colors, Output } from "../terminal/output.ts";
import { ensureApiKey, regenerateApiKey } from "../../../foundation/credentials/api-key.ts";
import { homeDir } from "../../../foundation/credentials/read-secret.ts";
import { usageError, hasCode } from "../../../foundation/errors.ts";
import { connect } from "../operator/connect.ts";

interface DoctorRunOptions {
  readonly check?: true;
  readonly strict?: true;
}

/** Runs the doctor, or shows the API key or makes another one. */
export async function doctor(
  context: Context,
  options: DoctorRunOptions & KeyOptions,
): Promise<unknown> {
  return options.showKey || options.regenerateKey
    ? showKey(context, options)
    : runDoctor(context, options);
}

/** Examines the project and prints the findings; the exit code is 1 if an error remains, or a warning with --strict. */
async function runDoctor(context: Context, options: DoctorRunOptions): Promise<number> {
  const { out, projectDir, env } = context;
  const findings: CheckFinding[] = [];
  for await (const finding of runChecks({ projectDir, env, repair: options.check !== true })) {
    if (!out.json) print(out, finding, findings.at(-1)?.check);
    findings.push(finding);
  }
  const count = (severity: Severity) => findings.filter((one) => one.severity === severity).length;
  const [errors, warnings, fixed] = [count("error"), count("warning"), count("fixed")];
  const isWell = errors === 0 && (options.strict !== true || warnings === 0);
  const counts = [counted(errors, "error"), counted(warnings, "warning")];
  if (fixed > 0) counts.push(`${fixed} fixed`);
  if (out.json) out.document({ ok: isWell, findings });
  else out.note(`\n${errors + warnings + fixed === 0 ? "All is well." : counts.join(", ")}`);
  return isWell ? 0 : 1;
}

const indent = " ".repeat(22);

/** `ok       schedules    hello: Every minute …`; the check is named once for all its findings. */
function print(out: Output, finding: CheckFinding, last: string | undefined): void {
  const { check, severity, what, where, fix } = finding;
  const { colors } = out;
  const name = check === last ? "" : check;
  const text = plain(what).replaceAll("\n", `\n${indent}`);
  out.data(`${colorOf(severity, colors)(severity.padEnd(8))} ${name.padEnd(12)} ${text}`);
  const isBad = severity === "error" || severity === "warning" || severity === "fixed";
  if (where !== null && isBad && fix?.endsWith(where) !== true)
    out.data(`${indent}${colors.dim(`at ${plain(where)}`)}`);
  if (fix !== null) out.data(`${indent}fix: ${plain(fix)}`);
}

function colorOf(severity: Severity, colors: Colors): (text: string) => string {
  const by = {
    ok: colors.green,
    fixed: colors.cyan,
    note: colors.dim,
    warning: colors.yellow,
    error: colors.red,
  };
  return by[severity];
}

export interface KeyOptions {
  readonly check?: true;
  readonly showKey?: true;
  readonly regenerateKey?: true;
}

/**
 * Shows the gateway's API key, or makes another one. Waits until a running scheduler uses it, so that the next command
 * is accepted.
 */
export async function showKey(
  context: Context,
  { check, showKey, regenerateKey }: KeyOptions,
): Promise<void> {
  const { out, env } = context;
  if (check && regenerateKey) {
    throw usageError("--check changes nothing, and --regenerate-key does");
  }
  const { key, path } = await (regenerateKey ? regenerateApiKey : ensureApiKey)(homeDir(env));
  const becomes = regenerateKey === true ? await untilActive(context) : "";
  if (out.json) return out.document({ path, ...(showKey ? { key } : {}) });
  if (showKey) out.data(key);
  else out.data(`new API key in ${path}; ${becomes}`);
}

/** A scheduler reads the key's file every second; a busy one gets more time, in ms. */
const timeoutMs = 5_000;
const pollMs = 100;

const over = "sessions and streams of the old one are over";
const soon =
  "a running scheduler picks it up within a second and ends sessions that used the old key";

/** Waits until the project's scheduler, if any, accepts the new key; returns the state of the old one. */
async function untilActive(context: Context): Promise<string> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(pollMs)) {
    try {
      await (await connect(context)).get("/control/status");
      return over;
    } catch (error) {
      if (!hasCode(error, "unauthorized")) return soon;
    }
  }
  return "the scheduler does not accept it yet; its log may show the reason";
}
