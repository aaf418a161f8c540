import { bareSkill } from "../../../foundation/config/agent-files.ts";
import type { Check, Finding } from "../finding.ts";
import { agentNames, alCommand, note, ofProblem, ok } from "../finding.ts";
import type { DoctorContext } from "../doctor-context.ts";

/** Whether there are agents, and whether their files can be used. */
export const agents: Check = {
  name: "agents",
  run: (context) => (context.project === null ? [] : inspect(context)),
};

function inspect(context: DoctorContext): Finding[] {
  const { agents: all, agentProblems, bareSkills } = context;
  const found = [...agentProblems.map(ofProblem), ...bareSkills.map(ofBareSkill(context))];
  const enabled = all.filter(({ scale }) => scale > 0).map(({ name }) => name);
  const disabled = all.filter(({ scale }) => scale === 0).map(({ name }) => name);
  if (enabled.length > 0) found.push(ok(agentNames(enabled)));
  if (disabled.length > 0) found.push(note(`disabled by scale = 0: ${disabled.join(", ")}`));
  if (all.length > 0 || found.length > 0) return found;
  const fix = alCommand(context, "agent new hello --schedule '0 9 * * *'");
  return [{ severity: "warning", what: "the project has no agents", where: "agents/", fix }];
}

function ofBareSkill(context: DoctorContext): (name: string) => Finding {
  return (name) => ({
    severity: "warning",
    what: bareSkill,
    where: `agents/${name}`,
    fix: alCommand(context, `config ${name}`),
  });
}
