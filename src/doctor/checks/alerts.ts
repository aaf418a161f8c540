import type { AlertTarget } from "../../../streams/alerts/alert-options.ts";
import { targetTypes } from "../../alerts/targets.ts";
import { loadCredential } from "../../credentials/load-credential.ts";
import { messageOf } from "../../errors.ts";
import { enabledAgents } from "../doctor-context.ts";
import type { DoctorContext } from "../doctor-context.ts";
import type { Check, Finding } from "../finding.ts";
import { alCommand, note, ofError, ok } from "../finding.ts";

/** Whether each target of alerts has what it takes to send, and is used. Sends nothing. */
export const alerts: Check = {
  name: "alerts",
  run: async (context) => {
    const targets = context.project?.alerts ?? [];
    if (targets.length === 0) return noTarget(context);
    const found = await Promise.all(targets.map((target) => inspect(target, context)));
    return [...found.flat(), ...withoutAddress(context)];
  },
};

function noTarget(context: DoctorContext): readonly Finding[] {
  if (enabledAgents(context).length === 0) return [];
  const fix = 'add [alerts.<name>] to config.toml, for example: type = "slack"';
  return [
    note("a run that fails is seen on the dashboard only: there is no target of alerts", fix),
  ];
}

async function inspect(target: AlertTarget, context: DoctorContext): Promise<readonly Finding[]> {
  const { name, type, credential } = target;
  const where = `config.toml [alerts.${name}]`;
  try {
    const { fields } = await loadCredential(context.home, credential);
    const problem = problemOf(target, fields);
    if (problem === null) return [usedBy(target, context)];
    const what = `the credential ${credential} of the ${type} target ${name}: ${problem}`;
    return [{ severity: "error", what, where, fix: `al creds add ${credential} --replace` }];
  } catch (error) {
    return [ofError(error, "error", where)];
  }
}

/** Null for fields that its type can use. */
function problemOf(target: AlertTarget, fields: Readonly<Record<string, string>>): string | null {
  try {
    targetTypes[target.type].check(fields, target);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** A target of no list is no use. */
function usedBy({ name, type }: AlertTarget, context: DoctorContext): Finding {
  const agents = enabledAgents(context);
  const isListed = (to: readonly string[] | null): boolean => to?.includes(name) ?? true;
  const users = agents.filter(({ alert }) => isListed(alert.to)).map((agent) => agent.name);
  const isOfProject = context.project !== null && isListed(context.project.alert.to);
  if (users.length === 0 && !isOfProject) {
    return note(`nothing is sent to ${name}`, `add it to the lists "to" of [alert]`);
  }
  const whose = users.length === agents.length ? "all agents" : users.join(", ");
  const test = alCommand(context, `alerts test ${name}`);
  return ok(`${name} (${type}) has the alerts of ${whose || "the project"}; ${test} sends one`);
}

/** That is no address for the reader of a message elsewhere. */
function withoutAddress(context: DoctorContext): readonly Finding[] {
  if (context.project === null || context.project.gateway.publicUrl !== null) return [];
  const fix = alCommand(context, "config --set gateway.publicUrl=https://<host>");
  return [note("links in alerts lead to this machine's own address", fix)];
}
