import { schemaLine } from "../../operations/editor-schemas.ts";
import type { NewFile, NewFiles } from "../write-files.ts";
import { translateAgent } from "./agent-config.ts";
import type { AgentContext } from "./agent-config.ts";
import { isBare, isOneStage, joinDockerfiles, translateDockerfile } from "./dockerfile.ts";
import { instructionRemarks, withoutCompatibility } from "./instructions.ts";
import { keyRemarks } from "./keys.ts";
import type { Remark } from "./keys.ts";
import type { SourceAgent, SourceProject } from "./read-source.ts";
import { tableAt, textFor } from "./tables.ts";
import type { Table } from "./tables.ts";

/** An agent that the import is going to write. */
export interface AgentPlan {
  readonly name: string;
  readonly config: Table;
  readonly files: NewFiles;
  readonly remarks: readonly Remark[];
}

/** Files and remarks of an agent as they are collected. */
interface Draft {
  readonly dir: string;
  readonly files: Map<string, NewFile>;
  readonly remarks: Remark[];
}

export function planAgent(
  agent: SourceAgent,
  name: string,
  context: AgentContext,
  source: SourceProject,
): AgentPlan {
  const dir = `agents/${name}`;
  const remarks = keyRemarks();
  const config = translateAgent(agent.config?.table ?? {}, context, remarks.add);
  const text = `${schemaLine("agent", "../../")}\n\n${textFor(agent.config, config)}`;
  const draft: Draft = {
    dir,
    files: new Map([[`${dir}/config.toml`, { content: text }]]),
    remarks: remarks.placedIn(`${dir}/config.toml`, text),
  };
  if (agent.name !== name) {
    const message = `${agent.name} can't be the name of an agent here; it is called ${name}`;
    draft.remarks.unshift({ file: dir, line: null, message, fix: null });
  }
  addInstructions(draft, agent, source);
  if (tableAt(config, "runtime").type !== "host-user") addImage(draft, agent, source);
  for (const [path, file] of agent.files) draft.files.set(`${dir}/${path}`, file);
  return { name, config, files: draft.files, remarks: draft.remarks };
}

/** Where files are that all agents share; each agent that names them gets a copy. */
const sharedThere = "/app/static/shared/";
const sharedHere = "references/shared/";

function addInstructions(
  { dir, files, remarks }: Draft,
  { instructions }: SourceAgent,
  { shared }: SourceProject,
): void {
  const file = `${dir}/SKILL.md`;
  const remark = (message: string, fix: string | null) =>
    void remarks.push({ file, line: null, message, fix });
  if (instructions === null) {
    remark("the agent has no instructions", "what the agent is to do, as markdown");
    return;
  }
  let text = withoutCompatibility(instructions);
  if (text !== instructions) {
    remark("compatibility is left out: it was about Action Llama's versions", null);
  }
  if (shared.size > 0 && text.includes(sharedThere)) {
    text = text.replaceAll(sharedThere, sharedHere);
    remark(`${sharedThere} is written as ${sharedHere}, where the agent has a copy`, null);
    for (const [path, copy] of shared) files.set(`${dir}/${sharedHere}${path}`, copy);
  }
  files.set(file, { content: text });
  remarks.push(...instructionRemarks(file, text));
}

/** The agent's own image: of its Dockerfile and the project's, from which all agents' images were built there. */
function addImage({ dir, files, remarks }: Draft, agent: SourceAgent, source: SourceProject): void {
  const file = `${dir}/Dockerfile`;
  let dockerfile = agent.dockerfile;
  if (source.dockerfile !== null && !isBare(source.dockerfile)) {
    const isJoined = isOneStage(source.dockerfile);
    if (isJoined) dockerfile = joinDockerfiles(source.dockerfile, dockerfile);
    const message = isJoined
      ? "the instructions of the project's Dockerfile are part of it now"
      : "the project's Dockerfile has several stages and is not taken";
    const fix = `FROM al-agent:latest, and what this agent needs of ${source.dir}/Dockerfile`;
    remarks.push({ file, line: null, message, fix: isJoined ? null : fix });
  }
  if (dockerfile === null) return;
  const translated = translateDockerfile(file, dockerfile);
  files.set(file, { content: translated.text });
  remarks.push(...translated.remarks);
}
