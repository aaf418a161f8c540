import { schemaLine } from "../schema-files.ts";
import { mapAgent } from "./agent-table.ts";
import type { AgentContext } from "./agent-table.ts";
import { isBare, isOneStage, joinDockerfiles, mapDockerfile } from "./dockerfile.ts";
import { instructionRemarks, sharedHere, sharedThere } from "./instructions.ts";
import type { SplitInstructions } from "./instructions.ts";
import type { PlannedFile } from "./planned-file.ts";
import type { SourceAgent, SourceProject } from "./read-source.ts";
import { placed } from "./remark.ts";
import type { Remark } from "./remark.ts";
import { tableAt, textFor } from "./tables.ts";
import type { Table } from "./tables.ts";

/** An agent as it is going to be. */
export interface AgentPlan {
  readonly name: string;
  readonly config: Table;
  readonly files: ReadonlyMap<string, PlannedFile>;
  readonly remarks: readonly Remark[];
  readonly leftOut: readonly string[];
}

interface AgentParts {
  readonly agent: SourceAgent;
  /** Its config, from wherever it stood. */
  readonly table: Table;
  readonly skill: SplitInstructions | null;
  readonly context: AgentContext;
  readonly source: SourceProject;
}

export function planAgent({ agent, table, skill, context, source }: AgentParts): AgentPlan {
  const { name } = context;
  const dir = `agents/${name}`;
  const { table: config, remarks } = mapAgent(table, context);
  const { config: written } = agent;
  const body = textFor(written?.text ?? null, written?.table ?? {}, config);
  const text = `${schemaLine("agent", "../../")}\n\n${body}`;
  const instructions = planInstructions(`${dir}/SKILL.md`, skill, source);
  const isContainer = tableAt(config, "runtime").type !== "host-user";
  const image = isContainer ? planImage(`${dir}/Dockerfile`, agent, source) : nothing;
  const copied = agent.files.map(({ path, ...file }) => [`${dir}/${path}`, file] as const);
  return {
    name,
    config,
    files: new Map([
      [`${dir}/config.toml`, { content: text, isExecutable: false }],
      ...[...instructions.files, ...image.files].map(
        ([path, file]) => [`${dir}/${path}`, file] as const,
      ),
      ...copied,
    ]),
    remarks: [
      ...renamed(agent.name, dir, name),
      ...placed(`${dir}/config.toml`, text, remarks),
      ...instructions.remarks,
      ...image.remarks,
    ],
    leftOut: agent.leftOut.map((path) => `${agent.name}/${path}`),
  };
}

/** Files by their path in the agent's folder. */
interface Part {
  readonly files: readonly (readonly [string, PlannedFile])[];
  readonly remarks: readonly Remark[];
}

const nothing: Part = { files: [], remarks: [] };

function note(file: string, message: string): Remark {
  return { kind: "note", file, line: null, message, fix: null };
}

function edit(file: string, message: string, fix: string): Remark {
  return { kind: "edit", file, line: null, message, fix };
}

function renamed(before: string, dir: string, name: string): readonly Remark[] {
  return before === name
    ? []
    : [note(dir, `${before} is no name of an agent here; it is called ${name}`)];
}

function planInstructions(
  file: string,
  skill: SplitInstructions | null,
  { shared }: SourceProject,
): Part {
  if (skill === null) {
    return {
      files: [],
      remarks: [
        edit(file, "the agent has no instructions", "what the agent is to do, as markdown"),
      ],
    };
  }
  const isShared = shared.length > 0 && skill.text.includes(sharedThere);
  const text = isShared ? skill.text.replaceAll(sharedThere, sharedHere) : skill.text;
  const copies = isShared
    ? shared.map(({ path, ...one }) => [`${sharedHere}${path}`, one] as const)
    : [];
  const remarks = [
    ...(skill.hadCompatibility
      ? [note(file, "compatibility is left out: it was about Action Llama's versions")]
      : []),
    ...(isShared
      ? [note(file, `${sharedThere} is written as ${sharedHere}, where the agent has a copy`)]
      : []),
    ...instructionRemarks(file, text),
  ];
  return { files: [["SKILL.md", { content: text, isExecutable: false }], ...copies], remarks };
}

/** The agent's own image: of its Dockerfile and the project's, which all agents' images were built on there. */
function planImage(file: string, { dockerfile }: SourceAgent, source: SourceProject): Part {
  const project =
    source.dockerfile === null || isBare(source.dockerfile) ? null : source.dockerfile;
  if (project === null && dockerfile === null) return nothing;
  if (project !== null && !isOneStage(project)) {
    const message = "the project's Dockerfile has several stages and is not taken";
    const remarks = [
      edit(
        file,
        message,
        `FROM al-agent:latest, and what this agent needs of ${source.dir}/Dockerfile`,
      ),
    ];
    return dockerfile === null
      ? { files: [], remarks }
      : withRemarks(planText(file, dockerfile), remarks);
  }
  if (project === null) return planText(file, dockerfile ?? "");
  const joined = planText(file, joinDockerfiles(project, dockerfile));
  return withRemarks(joined, [
    note(file, "the instructions of the project's Dockerfile are part of it now"),
  ]);
}

function withRemarks({ files, remarks }: Part, more: readonly Remark[]): Part {
  return { files, remarks: [...more, ...remarks] };
}

function planText(file: string, dockerfile: string): Part {
  const { text, remarks } = mapDockerfile(file, dockerfile);
  return { files: [["Dockerfile", { content: text, isExecutable: false }]], remarks };
}
