import { readDockerfile } from "../../doctor/dockerfile.ts";
import type { Remark } from "./keys.ts";

const base = "al-agent:latest";
/** Names that Action Llama gives to the image under an agent's own. */
const theirBases = /^(al-agent|al-project-base)(:[\w.-]+)?$/;

/** Copies and the start of Action Llama itself, in Dockerfiles that were not built on its image. */
const theirProgram = /^\s*(COPY\s+--from=al-agent\S*\s|(ENTRYPOINT|CMD)\b.*container-entry)/i;

/** A Dockerfile of theirs, for `file` of the new project: on our image, which is Debian's. */
export function translateDockerfile(
  file: string,
  text: string,
): { readonly text: string; readonly remarks: readonly Remark[] } {
  const remarks: Remark[] = [];
  const remark = (line: number, message: string, fix: string | null) =>
    void remarks.push({ file, line, message, fix });
  const last = readDockerfile(text).base?.line ?? null;
  const lines = text.split("\n").map((line, index) => {
    const number = index + 1;
    if (/^\s*#/.test(line)) return line;
    if (number === last) {
      const [, image = ""] = /^\s*FROM\s+(?:--\S+\s+)*(\S+)/i.exec(line) ?? [];
      if (!theirBases.test(image)) {
        const message = `FROM ${image} is written as FROM ${base}, which runs need; it is Debian with Node 24`;
        remark(number, message, null);
      }
      return line.replace(image, base);
    }
    if (theirProgram.test(line)) {
      const message = `left out, because ${base} brings al itself: ${line.trim()}`;
      remark(number, message, null);
      return `# ${line}`;
    }
    if (line.includes("/home/node")) {
      const fix = line.replaceAll("/home/node", "/home/al").trim();
      remark(number, "the home of runs is another one here", fix);
    }
    if (/\bapk\s/.test(line)) {
      const message = `there is no apk in ${base}, which is Debian, and packages may have other names: ${line.trim()}`;
      const fix = "apt-get update && apt-get install -y --no-install-recommends <packages>";
      remark(number, message, fix);
    }
    return line.replace(/^(\s*USER\s+)node(\s*)$/i, "$1al$2");
  });
  return { text: lines.join("\n"), remarks };
}

/** An agent's Dockerfile with the instructions of the project's, from which every agent's image was built there. */
export function joinDockerfiles(project: string, agent: string | null): string {
  const body = bodyOf(project);
  if (agent === null) return `FROM ${base}\n\n${body}\n`;
  const lines = agent.split("\n");
  const at = readDockerfile(agent).base?.line ?? lines.findIndex((line) => isFrom.test(line)) + 1;
  const head = "# From the Dockerfile of the project, which all its agents' images were built on.";
  return [...lines.slice(0, at), "", head, body, "", ...lines.slice(at)].join("\n");
}

/** Whether the project's Dockerfile adds anything to the image that it begins with. */
export function isBare(project: string): boolean {
  return /^(\s*(#.*)?\n)*\s*(#.*)?$/.test(bodyOf(project));
}

/** Whether its instructions can stand in another file: it has one stage. */
export function isOneStage(project: string): boolean {
  return project.split("\n").filter((line) => isFrom.test(line)).length === 1;
}

const isFrom = /^\s*FROM\b/i;

function bodyOf(project: string): string {
  const lines = project.split("\n");
  const from = lines.findIndex((line) => isFrom.test(line));
  return lines
    .slice(from + 1)
    .join("\n")
    .trim();
}
