import { fetchesOfAdd, fetchesOfCommand } from "./dockerfile-fetches.ts";
import { didYouMean } from "../../foundation/contracts/did-you-mean.ts";

/** What a Dockerfile shows without being built. */
export interface DockerfileFacts {
  /** With the line that each is in, from 1. */
  readonly mistakes: readonly { readonly line: number; readonly message: string }[];
  /** What the last stage is built on; null when a build argument decides. */
  readonly base: { readonly line: number; readonly image: string } | null;
  /** What is copied from the agent's folder, relative to it; patterns are left out. */
  readonly sources: readonly { readonly line: number; readonly path: string }[];
  /** What its build loads from networks, as far as the commands show it. */
  readonly fetches: readonly string[];
}

/** The instructions of https://docs.docker.com/reference/dockerfile/. */
const known = [
  ...["ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL"],
  ...["MAINTAINER", "ONBUILD", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"],
];

interface Instruction {
  readonly line: number;
  readonly name: string;
  readonly rest: string;
  /** The lines of here-documents that follow. */
  readonly heredocs: string;
}

/** Reads a Dockerfile without building it. Never throws. */
export function readDockerfile(text: string): DockerfileFacts {
  const instructions = instructionsIn(text);
  return {
    mistakes: [...unknown(instructions), ...withoutFrom(instructions)],
    base: lastBase(instructions),
    sources: instructions.flatMap(sourcesOf),
    fetches: [...new Set(instructions.flatMap(fetchesOf))],
  };
}

function instructionsIn(text: string): Instruction[] {
  const found: Instruction[] = [];
  const lines = text.split(/\r?\n/);
  let index = 0;
  while (index < lines.length) {
    const line = index + 1;
    const whole = [];
    do whole.push(lines[index++] ?? "");
    while (goesOn(whole.at(-1) ?? "", whole.length) && index < lines.length);
    const parts = whole.filter((part) => !isEmpty(part)).map((part) => part.replace(/\\\s*$/, ""));
    const [, name = "", rest = ""] = /^\s*(\S+)\s*(.*)$/.exec(parts.join(" ")) ?? [];
    const from = index;
    index = afterHeredocs(rest, lines, index);
    const heredocs = lines.slice(from, index).join("\n");
    if (name !== "") found.push({ line, name: name.toUpperCase(), rest, heredocs });
  }
  return found;
}

function isEmpty(line: string): boolean {
  return /^\s*(#|$)/.test(line);
}

/** Comments and empty lines between continued ones are passed over. */
function goesOn(line: string, length: number): boolean {
  return isEmpty(line) ? length > 1 : /\\\s*$/.test(line);
}

function afterHeredocs(rest: string, lines: readonly string[], from: number): number {
  let index = from;
  for (const [, word] of rest.matchAll(/<<-?["']?(\w+)["']?/g)) {
    const end = lines.findIndex((line, at) => at >= index && line.replace(/^\t+/, "") === word);
    index = end === -1 ? lines.length : end + 1;
  }
  return index;
}

function unknown(instructions: readonly Instruction[]): DockerfileFacts["mistakes"] {
  return instructions
    .filter(({ name }) => !known.includes(name))
    .map(({ line, name }) => {
      const near = didYouMean(name, known);
      return { line, message: `${JSON.stringify(name)} is not a Dockerfile instruction${near}` };
    });
}

function withoutFrom(instructions: readonly Instruction[]): DockerfileFacts["mistakes"] {
  const first = instructions.find(({ name }) => name !== "ARG" && known.includes(name));
  if (first?.name === "FROM") return [];
  return [{ line: first?.line ?? 1, message: "a Dockerfile begins with FROM al-agent:latest" }];
}

/** Stages may be built on earlier ones. */
function lastBase(instructions: readonly Instruction[]): DockerfileFacts["base"] {
  const stages = new Map<string, string>();
  let last: DockerfileFacts["base"] = null;
  for (const { name, line, rest } of instructions) {
    if (name !== "FROM") continue;
    const [from = "", as, alias] = rest.split(/\s+/).filter((part) => !part.startsWith("--"));
    const image = stages.get(from.toLowerCase()) ?? from;
    if (as?.toUpperCase() === "AS" && alias !== undefined) stages.set(alias.toLowerCase(), image);
    last = image === "" || image.includes("$") ? null : { line, image };
  }
  return last;
}

function sourcesOf({ name, line, rest }: Instruction): DockerfileFacts["sources"] {
  if ((name !== "COPY" && name !== "ADD") || /--from=|<</.test(rest)) return [];
  const parts = rest.startsWith("[")
    ? [...rest.matchAll(/"([^"]*)"/g)].map(([, part = ""]) => part)
    : rest.split(/\s+/).filter((part) => part !== "");
  return parts
    .filter((part) => !part.startsWith("--"))
    .slice(0, -1)
    .filter((path) => !/[$*?[\]"']|:\/\/|^git@/.test(path))
    .map((path) => ({ line, path }));
}

function fetchesOf({ name, rest, heredocs }: Instruction): readonly string[] {
  if (name === "RUN") return fetchesOfCommand(`${rest}\n${heredocs}`);
  return name === "ADD" ? fetchesOfAdd(rest) : [];
}
