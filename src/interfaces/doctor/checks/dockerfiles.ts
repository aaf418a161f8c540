import { lstat, readdir } from "node:fs/promises";
import { join, normalize } from "node:path";
import { needsImage } from "../../../../streams/agent-config.ts";
import { readText } from "../../../foundation/config/read-file.ts";
import { connectEngine, isUnreachable } from "../../../runtime/runners/container/engine.ts";
import {
  defaultImage,
  inspectImage,
  withProgram,
} from "../../../runtime/runners/container/image/default-image.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { readDockerfile } from "../dockerfile.ts";
import type { DockerfileFacts } from "../dockerfile.ts";
import type { Check, Finding } from "../finding.ts";
import { note, ofProblem, ok } from "../finding.ts";
import { anotherProjects, isOfAnotherProject } from "./engine.ts";
import type { DoctorContext } from "../doctor-context.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";

/** Whether agents' own Dockerfiles can be built, as far as that shows without building them. */
export const dockerfiles: Check = {
  name: "dockerfiles",
  run: async (context) => {
    const inside = context.agents.filter(needsImage);
    const found = await Promise.all(inside.map(({ name }) => inspect(name, context)));
    return found.flat();
  },
};

async function inspect(agent: string, context: DoctorContext): Promise<Finding[]> {
  const folder = join(context.projectDir, "agents", agent);
  const file = `agents/${agent}/Dockerfile`;
  const read = await readText(join(folder, "Dockerfile"), context.projectDir, 1024 ** 2);
  // What can't be read is part of the agents' check.
  if (read.type === "unreadable") return [];
  if (read.type === "missing") return missing(folder, file);
  const facts = readDockerfile(read.text);
  const problems = [
    ...facts.mistakes,
    ...(facts.mistakes.length > 0 ? [] : await baseProblems(facts, context)),
    ...(await sourceProblems(facts, folder)),
  ];
  const loads = fetchesFinding(file, facts);
  if (problems.length === 0) return [ok(file), ...loads];
  return [
    ...problems.map((problem) => ofProblem({ severity: "error", file, column: 1, ...problem })),
    ...loads,
  ];
}

/** Builds have the engine's network, whatever runs have. */
function fetchesFinding(file: string, { base, fetches }: DockerfileFacts): Finding[] {
  const image =
    base === null || isDefaultImage(base.image)
      ? []
      : [`the image ${base.image} unless the engine has it`];
  const all = [...image, ...fetches];
  if (all.length === 0) return [];
  return [note(`the build of ${file} loads ${all.join(", ")}, by the engine's network`)];
}

/** A file that was meant to be one. */
async function missing(folder: string, file: string): Promise<Finding[]> {
  const path = join(folder, "Dockerfile");
  if ((await lstat(path).catch(() => null)) !== null) {
    const what = "this link leads nowhere, so the agent runs in the project's image";
    return [{ severity: "error", what, where: file, fix: `rm ${shellWord(path)}` }];
  }
  const names = await readdir(folder).catch(() => []);
  const near = names.find((name) => /^(dockerfile|containerfile)(\.txt)?$/i.test(name));
  if (near === undefined) return [];
  const what = "this is not used: an agent's own image is made from its Dockerfile";
  const fix = `mv ${shellWord(join(folder, near))} ${shellWord(path)}`;
  return [{ severity: "warning", what, where: file.replace(/Dockerfile$/, near), fix }];
}

type Mistake = DockerfileFacts["mistakes"][number] & { readonly severity?: "warning" };

function isDefaultImage(image: string): boolean {
  return [defaultImage, defaultImage.replace(/:.+/, "")].includes(image);
}

/** The default image may not be built yet; another one can be checked only when it is there. */
async function baseProblems(
  { base }: DockerfileFacts,
  { env, projectDir }: DoctorContext,
): Promise<readonly Mistake[]> {
  if (base === null || isDefaultImage(base.image)) return [];
  const { line, image } = base;
  try {
    const there = await inspectImage(connectEngine({ env, callTimeoutMs: 5000 }), image);
    if (there !== null) withProgram(there, image);
    if (there !== null && isOfAnotherProject(there, projectDir)) {
      return [{ line, message: anotherProjects(image), severity: "warning" }];
    }
    if (there !== null) return [];
    // The build asks a registry for it.
    const message = `the image ${image} is not on this engine; al runs in what is built FROM ${defaultImage}`;
    return [{ line, message, severity: "warning" }];
  } catch (error) {
    // Whether the engine can be reached is its own check.
    if (isUnreachable(error)) return [];
    return [
      { line, message: `${messageOf(error)}; al runs in what is built FROM ${defaultImage}` },
    ];
  }
}

async function sourceProblems(
  { sources }: DockerfileFacts,
  folder: string,
): Promise<readonly Mistake[]> {
  const found = await Promise.all(
    sources.map(async ({ line, path }) => {
      if (["config.toml", "SKILL.md"].includes(normalize(path).replace(/^\/+/, ""))) {
        return { line, message: `${path} cannot be copied: it changes without a new image` };
      }
      const there = await lstat(join(folder, path)).catch(() => null);
      return there === null ? { line, message: `there is no ${path} to copy` } : null;
    }),
  );
  return found.filter((one) => one !== null);
}
