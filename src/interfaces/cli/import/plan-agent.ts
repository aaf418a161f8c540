import { schemaLine } from "../../operations/editor-schemas.ts";
import type { NewFile } from "../write-files.ts";
import { translateAgent, type AgentContext } from "./agent-config.ts";
import type { SourceAgent, SourceProject } from "./read-source.ts";
import { tableAt, textFor, keyRemarks, type Remark } from "./tables.ts";
import { dockerfileBase } from "../../doctor/dockerfile-base.ts";

/** Files and remarks of an agent as they are collected. */
interface Draft {
  readonly dir: string;
  readonly files: Map<string, NewFile>;
  readonly remarks: Remark[];
}

/** The config, files and remarks of an agent of the new project. */
export function planAgent(
  agent: SourceAgent,
  name: string,
  context: AgentContext,
  source: SourceProject,
) {
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

/** Folder of files shared by all agents; each agent that names them gets a copy. */
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

/** The agent's own image: its Dockerfile and the project's, which was the base of all agents' images in Action Llama. */
function addImage({ dir, files, remarks }: Draft, agent: SourceAgent, source: SourceProject): void {
  const file = `${dir}/Dockerfile`;
  const project = source.dockerfile ?? "";
  const isJoined = isOneStage(project) && !isBare(project);
  if (!isBare(project)) {
    const message = isJoined
      ? "the instructions of the project's Dockerfile are part of it now"
      : "the project's Dockerfile has several stages and is not taken";
    const fix = `FROM al-agent:latest, and what this agent needs of ${source.dir}/Dockerfile`;
    remarks.push({ file, line: null, message, fix: isJoined ? null : fix });
  }
  const text = isJoined ? joinDockerfiles(project, agent.dockerfile) : agent.dockerfile;
  if (text === null) return;
  const translated = translateDockerfile(file, text);
  files.set(file, { content: translated.text });
  remarks.push(...translated.remarks);
}

/** SKILL.md without the line of its front matter that names versions of Action Llama. */
function withoutCompatibility(skill: string): string {
  const [front = ""] = /^---\n(?:.*\n)*?---\n/.exec(skill) ?? [];
  return front.replace(/^compatibility:.*\n/m, "") + skill.slice(front.length);
}

/** An imported text with another meaning here, and its replacement; null if that is already made. */
type Rule = readonly [
  found: RegExp,
  message: string,
  fix: string | null | ((match: RegExpExecArray) => string),
];

const instructionRules: readonly Rule[] = [
  [
    /\b(rlock|runlock|rlock-heartbeat) +"(?![a-z][a-z0-9+.-]*:)([^"]*)"/i,
    "a lock is taken on a URI here",
    ([, command = "", key = ""]) => `${command} "${uriFor(key)}"`,
  ],
  [/\bal-exit\b(?!`? +(?:\d|\$))/, "al-exit without a code is a success here", "al-exit 15"],
  [
    /\bal-(?:call|check|wait)\b/,
    "subagents have other commands here",
    "al-subagent, al-subagent-check or al-subagent-wait",
  ],
  [
    /\breturnValue\b/,
    "al-subagent-check and al-subagent-wait answer with calls[], each with state, outcome and value",
    "jq '.calls[0].value'",
  ],
  [
    /\bsetenv\b/,
    "there is no setenv: a variable lasts for one command",
    "set the variable in the command that needs it, or keep the value in a file",
  ],
  [
    /\[(?:RERUN|SILENT|STATUS|TRIGGER|RETURN)\b[^\]]*\]/,
    "words in the answer are not signals here",
    "al-rerun, al-status, al-subagent or al-return",
  ],
  [/<skill-config>/, "the block of params has one name here", "<agent-config>"],
  [
    /\/credentials\/|\$AL_CREDENTIALS_PATH/,
    "credentials are not files of one folder here",
    "the variables that <credential-context> of the prompt names",
  ],
  [
    /\bGOOGLE_APPLICATION_CREDENTIALS_JSON\b/,
    "the account's key is a file here",
    "$GOOGLE_APPLICATION_CREDENTIALS, which holds the path of the file",
  ],
  [
    /\/app\/static\b/,
    "the agent's files are in its working directory here",
    "a path without /app/static, such as scripts/check.sh",
  ],
];

/** The lines that a person must rewrite, with their replacements. */
function remarksIn(file: string, text: string, rules: readonly Rule[]): readonly Remark[] {
  return text.split("\n").flatMap((line, index) =>
    rules.flatMap(([found, message, fix]) => {
      const match = found.exec(line);
      if (match === null) return [];
      const replacement = typeof fix === "function" ? fix(match) : fix;
      const text = message.replace("{line}", () => line.trim());
      return [{ file, line: index + 1, message: text, fix: replacement }];
    }),
  );
}

export function instructionRemarks(file: string, text: string): readonly Remark[] {
  return remarksIn(file, text, instructionRules);
}

/** `github issue acme/app#7` as `github:issue/acme/app/7`. */
function uriFor(key: string): string {
  const [scheme = "", ...rest] = key.trim().split(/[\s#]+/);
  return /^[a-z][a-z0-9+.-]*$/i.test(scheme) && rest.length > 0
    ? `${scheme.toLowerCase()}:${rest.join("/")}`
    : `lock:${key.trim().replaceAll(/[\s#]+/g, "/")}`;
}

const base = "al-agent:latest";
/** Action Llama's names for the base of an agent's own image. */
const theirBases = /^(al-agent|al-project-base)(:[\w.-]+)?$/;

/** Copies and the start of Action Llama itself, in Dockerfiles that are not built on its image. */
const theirProgram = /^\s*(COPY\s+--from=al-agent\S*\s|(ENTRYPOINT|CMD)\b.*container-entry).*/i;

/** The lines of a Dockerfile that must change; comments never do. */
const dockerfileRules: readonly Rule[] = [
  [theirProgram, `left out, because ${base} brings al itself: {line}`, null],
  [
    /^(?!\s*#).*\/home\/node.*/,
    "the home of runs is another one here",
    ([line]) => line.replaceAll("/home/node", "/home/al").trim(),
  ],
  [
    /^(?!\s*#).*\bapk\s/,
    `there is no apk in ${base}, which is Debian, and packages may have other names: {line}`,
    "apt-get update && apt-get install -y --no-install-recommends <packages>",
  ],
];

/** An imported Dockerfile, for `file` of the new project: on our image, which is based on Debian. */
export function translateDockerfile(file: string, text: string) {
  const last = dockerfileBase(text)?.line ?? 0;
  const lines = text.split("\n");
  const [, image = ""] = /^\s*FROM\s+(?:--\S+\s+)*(\S+)/i.exec(lines[last - 1] ?? "") ?? [];
  const message = `FROM ${image} is written as FROM ${base}, which runs need; it is Debian with Node 24`;
  const isTheirs = last === 0 || theirBases.test(image);
  const remarks: readonly Remark[] = [
    ...(isTheirs ? [] : [{ file, line: last, message, fix: null }]),
    ...remarksIn(file, text, dockerfileRules),
  ];
  const written = lines.map((line, index) =>
    index + 1 === last
      ? line.replace(image, base)
      : line.replace(theirProgram, "# $&").replace(/^(\s*USER\s+)node(\s*)$/i, "$1al$2"),
  );
  return { text: written.join("\n"), remarks };
}

/** An agent's Dockerfile with the instructions of the project's, which was the base of every agent's image in Action Llama. */
export function joinDockerfiles(project: string, agent: string | null): string {
  const body = bodyOf(project);
  if (agent === null) return `FROM ${base}\n\n${body}\n`;
  const lines = agent.split("\n");
  const at = dockerfileBase(agent)?.line ?? 0;
  const head = "# From the Dockerfile of the project, which all its agents' images were built on.";
  return [...lines.slice(0, at), "", head, body, "", ...lines.slice(at)].join("\n");
}

/** Whether the project's Dockerfile adds nothing to its base image. */
export function isBare(project: string): boolean {
  return (
    bodyOf(project)
      .replaceAll(/^[ \t]*#.*$/gm, "")
      .trim() === ""
  );
}

/** Whether its instructions can be moved to another file. */
export function isOneStage(project: string): boolean {
  return project.match(/^[ \t]*FROM\b/gim)?.length === 1;
}

/** The lines after the first FROM. */
function bodyOf(project: string): string {
  const from = /^[ \t]*FROM\b.*$/im.exec(project);
  return project.slice(from === null ? 0 : from.index + from[0].length).trim();
}
