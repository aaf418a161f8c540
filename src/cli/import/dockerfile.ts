import { readDockerfile } from "../../doctor/dockerfile.ts";
import { aptCommand } from "./apk.ts";
import type { Remark } from "./remark.ts";

interface MappedDockerfile {
  readonly text: string;
  readonly remarks: readonly Remark[];
}

const base = "al-agent:latest";
/** Names that their program gives to what is under an agent's own image. */
const theirBases = /^(al-agent|al-project-base)(:[\w.-]+)?$/;

/** A Dockerfile of theirs, for `file` of the new project: on our image, which is Debian's. */
export function mapDockerfile(file: string, text: string): MappedDockerfile {
  const remarks: Remark[] = [];
  const remark = (
    kind: Remark["kind"],
    index: number,
    message: string,
    fix: string | null = null,
  ) => void remarks.push({ kind, file, line: index + 1, message, fix });
  const last = readDockerfile(text).base?.line ?? null;
  const lines = text.split("\n").map((line, index) => {
    if (/^\s*#/.test(line)) return line;
    if (index + 1 === last) return onOurBase(line, index, remark);
    if (isOfTheirProgram(line)) {
      remark("note", index, `left out, because ${base} brings al itself: ${line.trim()}`);
      return `# ${line}`;
    }
    if (line.includes("/home/node")) {
      remark(
        "edit",
        index,
        "the home of runs is another one here",
        line.replaceAll("/home/node", "/home/al").trim(),
      );
    }
    // So is the user of runs called in the image here.
    if (/^\s*USER\s+node\s*$/i.test(line)) {
      return line.replace(/node(\s*)$/, "al$1");
    }
    return line;
  });
  return { text: withoutApk(lines.join("\n"), remark), remarks };
}

type AddRemark = (kind: Remark["kind"], index: number, message: string, write?: string) => void;

function onOurBase(line: string, index: number, remark: AddRemark): string {
  const [, head = "", image = "", tail = ""] =
    /^(\s*FROM\s+(?:--\S+\s+)*)(\S+)(.*)$/i.exec(line) ?? [];
  if (image === "" || image === base) return line;
  if (!theirBases.test(image)) {
    remark(
      "note",
      index,
      `FROM ${image} is written as FROM ${base}, which runs need; it is Debian with Node 24`,
    );
  }
  return `${head}${base}${tail}`;
}

/** Copies and the start of their own program, in Dockerfiles that were not built on their image. */
function isOfTheirProgram(line: string): boolean {
  return (
    /^\s*COPY\s+--from=al-agent\S*\s/i.test(line) ||
    /^\s*(ENTRYPOINT|CMD)\b.*container-entry/i.test(line)
  );
}

/** `apk` with its options and words, up to the end of the command; a line may go on behind a backslash. */
const apkCommand = /\bapk((?:[ \t]+|\\\n)(?:[^\n&;|\\]|\\\n)*)/g;

function withoutApk(text: string, remark: AddRemark): string {
  const whole = text.replace(apkCommand, (command, rest: string, offset: number) => {
    const before = text.slice(0, offset);
    const index = before.split("\n").length - 1;
    if (/^\s*#/.test(before.slice(before.lastIndexOf("\n") + 1))) return command;
    const words = rest.split(/(?:\s|\\\n)+/).filter((word) => word !== "");
    const verb = words.find((word) => !word.startsWith("-"));
    const apt = verb === "add" ? aptCommand(words.filter((word) => word !== "add")) : null;
    const said = `apk ${words.join(" ")}`;
    if (apt === null) {
      const fix = "apt-get update && apt-get install -y --no-install-recommends <packages>";
      remark("edit", index, `there is no apk in ${base}, which is Debian: ${said}`, fix);
      return command;
    }
    if (apt.unsure.length === 0) remark("note", index, `${said} is written as ${apt.command}`);
    else {
      const message = `${said} is written for apt-get; Debian may call ${apt.unsure.join(", ")} otherwise`;
      remark("edit", index, message, apt.command);
    }
    return apt.command + (/\s$/.test(rest) ? " " : "");
  });
  return whole;
}

/** An agent's Dockerfile with the instructions of the project's, which an image of its own was made of there. */
export function joinDockerfiles(project: string, agent: string | null): string {
  const body = bodyOf(project);
  if (agent === null) return `FROM ${base}\n\n${body}\n`;
  const lines = agent.split("\n");
  const at =
    readDockerfile(agent).base?.line ?? lines.findIndex((line) => /^\s*FROM\b/i.test(line)) + 1;
  const head = "# From the Dockerfile of the project, which all its agents' images were built on.";
  return [...lines.slice(0, at), "", head, body, "", ...lines.slice(at)].join("\n");
}

/** Whether the project's Dockerfile adds anything to the image that it begins with. */
export function isBare(project: string): boolean {
  return bodyOf(project)
    .split("\n")
    .every((line) => /^\s*(#.*)?$/.test(line));
}

/** Whether its instructions can stand in another file: it has one stage. */
export function isOneStage(project: string): boolean {
  return project.split("\n").filter((line) => /^\s*FROM\b/i.test(line)).length === 1;
}

function bodyOf(project: string): string {
  const lines = project.split("\n");
  const from = lines.findIndex((line) => /^\s*FROM\b/i.test(line));
  return lines
    .slice(from + 1)
    .join("\n")
    .trim();
}
