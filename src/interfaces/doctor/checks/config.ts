import { basename } from "node:path";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { Check, Finding } from "../finding.ts";
import { agentNames, alCommand, finding, note, ofError, ofProblem, ok } from "../finding.ts";
import { serialText } from "../../../foundation/config/concurrency.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import { bareSkill, configCommand } from "../../../foundation/config/agent-files.ts";
import type { DoctorContext } from "../doctor-context.ts";
import { staleSchemas, writeSchemas } from "../../../runtime/agents/editor-schemas.ts";

/** Whether the project's `config.toml` can be used. */
export const config: Check = ({ project, unreadable, problems, projectDir }) => {
  if (unreadable !== null) {
    const found = ofError(unreadable, "error", projectDir);
    const isMissing = unreadable.code === "not_a_project";
    const fix = isMissing ? `al new ${shellWord(projectDir)}` : found.fix;
    return [{ ...found, fix }];
  }
  const found = problems.map(ofProblem);
  const fine = project === null ? [] : [ok(`${basename(projectDir)}/config.toml can be used`)];
  return [...found, ...fine];
};

/** Whether there are agents, and whether their files can be used. */
export const agents: Check = (context) => (context.project === null ? [] : inspect(context));

function inspect(context: DoctorContext): Finding[] {
  const { agents: all, agentProblems, bareSkills } = context;
  const found = [...agentProblems.map(ofProblem), ...bareSkills.map(ofBareSkill(context))];
  const enabled = all.filter(({ scale }) => scale > 0).map(({ name }) => name);
  const disabled = all.filter(({ scale }) => scale === 0).map(({ name }) => name);
  if (enabled.length > 0) found.push(ok(agentNames(enabled)));
  if (disabled.length > 0) found.push(note(`disabled by scale = 0: ${disabled.join(", ")}`));
  found.push(
    ...all.flatMap((agent) => unknownCallees(agent, all)),
    ...all.flatMap(serialKeys(context)),
  );
  if (all.length > 0 || found.length > 0) return found;
  const fix = alCommand(context, "agent new hello --schedule '0 9 * * *'");
  return [finding("warning", "the project has no agents", "agents/", fix)];
}

/** Gates for calls of agents that are not there, which hold nothing. */
function unknownCallees({ name, approve }: AgentConfig, all: readonly AgentConfig[]): Finding[] {
  const known = ["*", ...all.map((agent) => agent.name)];
  const unknown = approve?.agents.filter((callee) => !known.includes(callee)) ?? [];
  return unknown.map((callee) => {
    const text = `approve.agents names ${JSON.stringify(callee)}, which is not an agent that can run`;
    return finding("warning", text, `agents/${name}/config.toml [approve]`, "correct the name");
  });
}

/** Keys whose runs wait for those of other keys. */
function serialKeys(context: DoctorContext): (agent: AgentConfig) => Finding[] {
  return ({ name, concurrency, scale }) => {
    const text = concurrency === null ? null : serialText(scale);
    if (text === null) return [];
    const fix = alCommand(context, `config ${shellWord(name)} --set scale=2`);
    return [finding("warning", text, `agents/${name}/config.toml [concurrency]`, fix)];
  };
}

function ofBareSkill(context: DoctorContext): (name: string) => Finding {
  const [model] = Object.keys(context.project?.models ?? {});
  return (name) => {
    const fix = alCommand(context, configCommand(name, model));
    return finding("warning", bareSkill, `agents/${name}`, fix);
  };
}

/** Whether the schemas named in the first lines of the config files exist for editors: no run needs them. */
export const editor: Check = async ({ projectDir, unreadable }) => {
  if (unreadable !== null) return [];
  const stale = await staleSchemas(projectDir);
  if (stale.length === 0) return [ok("editors find this version's schemas in .al/schema")];
  const files = stale.map(({ file }) => `.al/schema/${file}`).join(" and ");
  return [
    finding(
      "note",
      `${files}: missing or of another version, so editors can't check config.toml`,
      null,
      alCommand({ projectDir }, "doctor"),
      () => writeSchemas(projectDir),
    ),
  ];
};
