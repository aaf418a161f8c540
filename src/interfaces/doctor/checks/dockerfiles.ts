import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { needsImage } from "../../../../streams/agent-config.ts";
import { readText } from "../../../foundation/config/read-project.ts";
import { connectEngine, isUnreachable } from "../../../runtime/runners/container/engine.ts";
import {
  defaultImage,
  inspectImage,
  withProgram,
} from "../../../runtime/runners/container/image/engine-images.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { finding, note, ofProblem, ok, type Check, type Finding } from "../finding.ts";
import { anotherProjects, isOfAnotherProject } from "./engine.ts";
import type { DoctorContext } from "../doctor-context.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";

/** Whether agents' own Dockerfiles are found, and based on an image with al. Only a build shows the rest. */
export const dockerfiles: Check = async (context) => {
  const inside = context.agents.filter(needsImage);
  const all = await Promise.all(inside.map(({ name }) => inspect(name, context)));
  return all.flat();
};

async function inspect(agent: string, context: DoctorContext): Promise<Finding[]> {
  const folder = join(context.projectDir, "agents", agent);
  const file = `agents/${agent}/Dockerfile`;
  const read = await readText(join(folder, "Dockerfile"), context.projectDir, 1024 ** 2);
  // The agents' check reports unreadable files.
  if (read.type === "unreadable") return [];
  if (read.type === "missing") return missing(folder, file);
  const base = dockerfileBase(read.text);
  const problem = base === null ? noBase : await baseProblem(base, context);
  const state =
    problem === null ? ok(file) : ofProblem({ severity: "error", file, column: 1, ...problem });
  return [state, ...networkNote(file, base, read.text)];
}

const fetchers =
  /\b(?:apt-get|apt|apk|dnf|npm|npx|pnpm|yarn|pip3?|uv|cargo|gem|curl|wget|git)(?= )/g;

/** Notes downloads of a build: it uses the engine's network, even if runs have a closed one. */
function networkNote(file: string, base: DockerfileBase | null, text: string): Finding[] {
  const image =
    base === null || isDefaultImage(base.image)
      ? []
      : [`the image ${base.image} unless the engine has it`];
  const programs = new Set(text.replace(/^[ \t]*#.*$/gm, "").match(fetchers));
  const all = [...image, ...[...programs].map((program) => `files by ${program}`)];
  if (all.length === 0) return [];
  return [note(`the build of ${file} loads ${all.join(", ")}, through the engine's network`)];
}

/** A file that was probably meant to be the Dockerfile. */
async function missing(folder: string, file: string): Promise<Finding[]> {
  const path = join(folder, "Dockerfile");
  if ((await lstat(path).catch(() => null)) !== null) {
    const text = "this link leads nowhere, so the agent runs in the project's image";
    return [finding("error", text, file, `rm ${shellWord(path)}`)];
  }
  const names = await readdir(folder).catch(() => []);
  const near = names.find((name) => /^(dockerfile|containerfile)(\.txt)?$/i.test(name));
  if (near === undefined) return [];
  const text = "this is not used: an agent's own image is made from its Dockerfile";
  const fix = `mv ${shellWord(join(folder, near))} ${shellWord(path)}`;
  return [finding("warning", text, file.replace(/Dockerfile$/, near), fix)];
}

/** The image that the last stage of a Dockerfile is built on, with the line of its FROM, from 1. */
interface DockerfileBase {
  readonly line: number;
  readonly image: string;
}

const from = /^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(\S+)(?:[ \t]+AS[ \t]+(\S+))?/gim;

/** Null without a FROM. Stages may be built on earlier ones. */
function dockerfileBase(text: string): DockerfileBase | null {
  const stages = new Map<string, string>();
  let last: DockerfileBase | null = null;
  for (const { index, 1: name = "", 2: stage } of text.matchAll(from)) {
    const image = stages.get(name.toLowerCase()) ?? name;
    if (stage !== undefined) stages.set(stage.toLowerCase(), image);
    last = { line: text.slice(0, index).split("\n").length, image };
  }
  return last;
}

interface BaseProblem {
  readonly line: number;
  readonly message: string;
  readonly severity?: "warning";
}

const noBase: BaseProblem = { line: 1, message: "a Dockerfile begins with FROM al-agent:latest" };

function isDefaultImage(image: string): boolean {
  return [defaultImage, defaultImage.replace(/:.+/, "")].includes(image);
}

/** The default image may not be built yet; another one can only be checked if it exists. */
async function baseProblem(
  { line, image }: DockerfileBase,
  { env, projectDir }: DoctorContext,
): Promise<BaseProblem | null> {
  // An image with a variable depends on a build argument.
  if (isDefaultImage(image) || image.includes("$")) return null;
  try {
    const there = await inspectImage(connectEngine({ env, callTimeoutMs: 5000 }), image);
    if (there === null) {
      const message = `the image ${image} is not on this engine; al runs in what is built FROM ${defaultImage}`;
      return { line, message, severity: "warning" };
    }
    withProgram(there, image);
    if (!isOfAnotherProject(there, projectDir)) return null;
    return { line, message: anotherProjects(image), severity: "warning" };
  } catch (error) {
    // Whether the engine can be reached is its own check.
    if (isUnreachable(error)) return null;
    const message = `${messageOf(error)}; al runs in what is built FROM ${defaultImage}`;
    return { line, message };
  }
}
