import { needsImage } from "../../../../streams/agent-config.ts";
import { runtimes } from "../../../../streams/runtimes.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";
import { connectEngine } from "../../../runtime/runners/container/engine.ts";
import type { Engine } from "../../../runtime/runners/container/engine.ts";
import {
  defaultImage,
  defaultImageTag,
  inspectImage,
} from "../../../runtime/runners/container/image/default-image.ts";
import { remoteEngineProblem } from "../../../runtime/runners/container/local-engine.ts";
import { installedProgram } from "../../../runtime/runners/container/image/program.ts";
import { programDir } from "../../../foundation/version.ts";
import { projectId, projectLabel } from "../../../runtime/runners/container/labels.ts";
import type { Check, Finding } from "../finding.ts";
import { alCommand, note, ofError, ok } from "../finding.ts";
import type { DoctorContext } from "../doctor-context.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import { limitFindings } from "./engine-limits.ts";

/** An engine that takes longer to answer is as good as none, in ms. */
const callTimeoutMs = 10_000;

/** Whether the container engine has what the agents that run in containers need. */
export const engine: Check = {
  name: "engine",
  run: async (context) => {
    const { project, env } = context;
    const inside = context.agents.filter(
      (agent) => needsImage(agent) && !runtimes[agent.runtime.type].isRemote,
    );
    if (project === null || inside.length === 0) return [];
    const connected = connectEngine({ env, callTimeoutMs });
    try {
      const problem = remoteEngineProblem(env, project.cluster !== null);
      if (problem !== null) throw problem;
      const version = await connected.ping();
      const { local } = project;
      return [
        ok(`version ${version} at ${connected.address()}`),
        ...(await imageFindings(connected, context, local)),
        ...(await limitFindings(connected, context, local, inside)),
      ];
    } catch (error) {
      const names = inside.map(({ name }) => name).join(", ");
      return [ofError(error, "error", `${connected.address()}, for ${names}`)];
    }
  },
};

type Local = ProjectConfig["local"];
const where = "config.toml [local]";

/** A base of one's own is not pulled. */
export async function missingBase(
  connected: Engine,
  context: DoctorContext,
  base: string | null,
): Promise<Finding[]> {
  if (base === null || (await inspectImage(connected, base)) !== null) return [];
  const instead = `build on another one: ${alCommand(context, "config --unset local.base")}`;
  return [missing(`the image ${base} to build on is not on this engine`, base, instead)];
}

async function imageFindings(
  connected: Engine,
  context: DoctorContext,
  { image, base }: Local,
): Promise<Finding[]> {
  const withoutBase = await missingBase(connected, context, base);
  if (withoutBase.length > 0) return withoutBase;
  if (image === defaultImage) return [await defaultFinding(connected, base)];
  const there = await inspectImage(connected, image);
  const instead = `use the default one: ${alCommand(context, "config --unset local.image")}`;
  if (there === null) return [missing(`the image ${image} is not on this engine`, image, instead)];
  if (!isOfAnotherProject(there, context.projectDir)) return [ok(`image ${image}`)];
  const fix = `build one of your own FROM ${defaultImage}, or ${instead}`;
  return [{ severity: "warning", what: anotherProjects(image), where, fix }];
}

/** Several images may be called `latest` on one engine; each project uses the one with its contents. */
async function defaultFinding(connected: Engine, base: string | null): Promise<Finding> {
  const dir = programDir();
  const program = () => installedProgram(dir);
  const sources = { engine: connected, programDir: dir, program, builtByItself: defaultImage };
  const tag = await defaultImageTag(sources, base);
  if ((await inspectImage(connected, tag)) !== null) return ok(`image ${tag}`);
  const latest = await inspectImage(connected, defaultImage);
  const other =
    latest === null ? "" : `; ${defaultImage} is that of another project or another version`;
  return note(`image ${tag} is built when the scheduler starts${other}`);
}

function missing(what: string, image: string, instead: string): Finding {
  return { severity: "error", what, where, fix: `docker pull ${shellWord(image)}, or ${instead}` };
}

/** Whether an image was built for an agent of a project other than the one in this directory. */
export function isOfAnotherProject(
  { labels }: { readonly labels: Readonly<Record<string, string | undefined>> },
  projectDir: string,
): boolean {
  const project = labels[projectLabel];
  return project !== undefined && project !== projectId(projectDir);
}

/** Says so of the image with this name. */
export function anotherProjects(image: string): string {
  return `the image ${image} was built for an agent of another project, which removes it when it builds a newer one`;
}
