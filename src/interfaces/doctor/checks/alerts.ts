import type { AlertTarget } from "../../../../streams/alert-options.ts";
import { targetProblem } from "../../../features/alerts/send-alert.ts";
import type { SwitchedOff } from "../../../features/alerts/rules/alert.ts";
import { loadCredential } from "../../../foundation/credentials/load-credential.ts";
import { readBeside } from "../../../foundation/store/read-beside.ts";
import { prepareSwitchedOff } from "../../../features/alerts/alert-store.ts";
import { enabledAgents, type DoctorContext } from "../doctor-context.ts";
import type { Check, Finding } from "../finding.ts";
import { agentNames, alCommand, finding, note, ofError, ok } from "../finding.ts";

/** Whether each target of alerts has a complete credential, and is used. Sends nothing. */
export const alerts: Check = async (context) => {
  const targets = context.project?.alerts ?? [];
  if (targets.length === 0) return noTarget(context);
  const off = readBeside(context.projectDir, (db) => prepareSwitchedOff(db)(), noneOff);
  const found = await Promise.all(
    targets.map((target) => inspect(target, off.get(target.name), context)),
  );
  return [...found.flat(), ...withoutAddress(context)];
};

const noneOff: ReadonlyMap<string, SwitchedOff> = new Map();

function noTarget(context: DoctorContext): readonly Finding[] {
  if (enabledAgents(context).length === 0) return [];
  const fix = 'add [alerts.<name>] to config.toml, for example: type = "slack"';
  return [note("failures are shown on the dashboard only: there is no alert target", fix)];
}

async function inspect(
  target: AlertTarget,
  off: SwitchedOff | undefined,
  context: DoctorContext,
): Promise<readonly Finding[]> {
  const { name, type, credential } = target;
  const where = `config.toml [alerts.${name}]`;
  try {
    const { fields } = await loadCredential(context.home, credential);
    const problem = targetProblem(target, fields);
    if (problem === null && off !== undefined) return [switchedOff(target, off, context)];
    if (problem === null) return [usedBy(target, context)];
    const text = `the credential ${credential} of the ${type} target ${name}: ${problem}`;
    return [finding("error", text, where, `al creds add ${credential} --replace`)];
  } catch (error) {
    return [ofError(error, "error", where)];
  }
}

/** A target stays off after its credential was replaced: only a test shows that it accepts again. */
function switchedOff(
  { name, type, credential }: AlertTarget,
  { reason }: SwitchedOff,
  context: DoctorContext,
): Finding {
  return finding(
    "error",
    `${name} (${type}) is switched off, nothing is sent to it: ${reason}`,
    `config.toml [alerts.${name}]`,
    `al creds add ${credential} --replace; ${alCommand(context, `alerts test ${name}`)}`,
  );
}

/** Notes a target that no list names. */
function usedBy({ name, type }: AlertTarget, context: DoctorContext): Finding {
  const agents = enabledAgents(context);
  const isListed = (to: readonly string[] | null): boolean => to?.includes(name) ?? true;
  const users = agents.filter(({ alert }) => isListed(alert.to)).map((agent) => agent.name);
  const isOfProject = context.project !== null && isListed(context.project.alert.to);
  if (users.length === 0 && !isOfProject) {
    return note(`nothing is sent to ${name}`, `add it to the lists "to" of [alert]`);
  }
  const whose = users.length === agents.length ? "all agents" : agentNames(users);
  const test = alCommand(context, `alerts test ${name}`);
  return ok(
    `${name} (${type}) receives the alerts of ${whose || "the project"}; ${test} sends a test`,
  );
}

/** The reader of a message on another device can't open this machine's own address. */
function withoutAddress(context: DoctorContext): readonly Finding[] {
  if (context.project === null || context.project.gateway.publicUrl !== null) return [];
  const fix = alCommand(context, "config --set gateway.publicUrl=https://<host>");
  return [note("links in alerts point to localhost", fix)];
}
