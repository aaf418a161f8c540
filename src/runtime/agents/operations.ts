import { cp, realpath, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { agentNameProblem } from "../../foundation/config/agent-files.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import {
  editFileSchema,
  fileEditedSchema,
  shownFilesSchema,
} from "../../foundation/contracts/file-edits.ts";
import { agentParams } from "../../foundation/contracts/params.ts";
import {
  agentHostsSchema,
  allowHostSchema,
  hostAllowedSchema,
} from "../../foundation/contracts/run-hosts.ts";
import type { AgentHosts } from "../../foundation/contracts/run-hosts.ts";
import { hasCode, ifMissing, Problem } from "../../foundation/errors.ts";
import { draftName } from "../../foundation/files/replace-file.ts";
import { knownAgent } from "../../foundation/scheduler/known-agent.ts";
import { operationsOf } from "../../foundation/operation.ts";
import { readOnly } from "./edit-file.ts";
import type { FileEdits } from "./file-edits.ts";

export interface FileContext extends CloneContext {
  readonly files: FileEdits;
  /** The hosts that an agent's runs were denied lately. Rejects with Problem `unknown_agent`. */
  readonly agentHosts: (name: string) => Promise<AgentHosts>;
}

interface CloneContext {
  readonly projectDir: string;
  readonly project$: SchedulerContext["project$"];
  readonly status: SchedulerContext["status"];
  readonly switches: SchedulerContext["switches"];
}

const network = operationsOf<FileContext>("Network");
const { read, change } = operationsOf<FileContext>("Files");

/** The files of agents, and the hosts that they allow. */
export const fileOperations = [
  network.read("/api/agents/:name/hosts", {
    summary: "The hosts that an agent's runs were denied in the last 30 days",
    params: agentParams,
    output: agentHostsSchema,
    changedBy: ["agents"],
    problems: [404, 503],
    perform: ({ name }, { agentHosts }) => agentHosts(name),
  }),
  network.change("/api/agents/:name/allow-host", {
    summary: "Allow a host for an agent",
    description:
      "Adds the host to `[network].allow` of the agent's own `config.toml`; comments and order stay. With `dryRun` the " +
      "answer shows the change, and nothing is written. It takes effect when the scheduler has read the file again, " +
      "including in running runs.",
    params: agentParams,
    input: allowHostSchema,
    output: hostAllowedSchema,
    audit: (_input, { agent, entry, written }) =>
      written ? { act: "allow-host", agent, detail: entry } : null,
    problems: [403, 404, 409],
    perform: ({ name, ...request }, { files }) => files.allowHost(name, request),
  }),
  read("/api/agents/:name/files", {
    summary: "An agent's config.toml and SKILL.md as they are on disk, with their problems",
    params: agentParams,
    output: shownFilesSchema,
    changedBy: ["agents"],
    problems: [404],
    perform: ({ name }, { files }) => files.agentFiles(name),
  }),
  change("/api/agents/:name/clone", {
    summary: "Clone an agent",
    description:
      "Copies the agent's directory to `agents/<to>`. The clone is disabled, so that its schedule and webhooks start " +
      "nothing before a person has looked at it. Refused with 409 if that directory exists (`conflict`), and with 403 " +
      "where `[gateway].edit` is false (`read_only`).",
    params: agentParams,
    input: z.strictObject({ to: z.string().meta({ description: "The clone's name" }) }),
    output: z.object({ success: z.literal(true), agent: z.string() }),
    status: 201,
    scope: "control",
    isAbout: ({ name, to }, isMine) => isMine(name) && isMine(to),
    audit: ({ name }, { agent }) => ({ act: "clone", agent: name, detail: agent }),
    problems: [403, 404, 409],
    perform: async ({ name, to }, context) => {
      await cloneAgent(name, to, context);
      return { success: true as const, agent: to };
    },
  }),
  change("/api/agents/:name/files", {
    summary: "Edit an agent's config.toml or SKILL.md",
    description:
      "Refused with 409 if the file is not the one that `hash` names (`conflict`), or if the text adds an error " +
      "(`invalid_config`), and with 403 where `[gateway].edit` is false (`read_only`). With `dryRun`, the answer shows the " +
      "change, and nothing is written. It takes effect when the scheduler has read the file again.",
    params: agentParams,
    input: editFileSchema,
    output: fileEditedSchema,
    audit: (_input, { agent, file, change: difference, written }) =>
      written ? { act: "edit", agent, detail: `${file}: ${changedLines(difference)}` } : null,
    problems: [403, 404, 409, 413],
    perform: ({ name, ...request }, { files }) => files.editFile(name, request),
  }),
] as const;

/** Throws Problem `unknown_agent`, `read_only`, `malformed` for a name that no agent can have, or `conflict`. */
async function cloneAgent(name: string, to: string, context: CloneContext): Promise<void> {
  const { projectDir, project$, status, switches } = context;
  if (knownAgent(status, name).removed) throw new Problem("unknown_agent", `no agent "${name}"`);
  if (!project$.value.gateway.edit) throw new Problem("read_only", readOnly);
  const problem = agentNameProblem(to);
  if (problem !== null) throw new Problem("malformed", problem);
  const agents = join(projectDir, "agents");
  const found = await stat(join(agents, to)).catch(ifMissing(null));
  if (found !== null) throw isThere(to);
  // The scheduler sees the whole directory, or none.
  const draft = join(agents, draftName());
  const wasEnabled = switches.isEnabled(to);
  try {
    const directory = await realpath(join(agents, name));
    await cp(directory, draft, { recursive: true, verbatimSymlinks: true });
    await switches.setEnabled(to, false);
    await rename(draft, join(agents, to));
  } catch (error) {
    // Another clone has the name now, and is disabled.
    if (hasCode(error, "ENOTEMPTY", "EEXIST")) throw isThere(to);
    await switches.setEnabled(to, wasEnabled);
    throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

const isThere = (name: string) => new Problem("conflict", `agents/${name} already exists`);

/** How many lines a unified difference adds and removes: `+2 −1`. */
function changedLines(change: string): string {
  const count = (sign: string): number =>
    change.split("\n").filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3)))
      .length;
  return `+${count("+")} −${count("-")} lines`;
}
