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
import { operationsOf } from "../../foundation/operation.ts";
import type { FileEdits } from "./file-edits.ts";

export interface FileContext {
  readonly files: FileEdits;
  /** The hosts that an agent's runs were denied lately. Rejects with Problem `unknown_agent`. */
  readonly agentHosts: (name: string) => Promise<AgentHosts>;
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
      "answer has what would change, and nothing is written. It counts from when the scheduler has read the file again, " +
      "also for runs that are under way.",
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
  change("/api/agents/:name/files", {
    summary: "Edit an agent's config.toml or SKILL.md",
    description:
      "Refused with 409 if the file is not the one that `hash` names (`conflict`), or if the text adds an error " +
      "(`invalid_config`), and with 403 where `[gateway].edit` is false (`read_only`). With `dryRun` the answer has what " +
      "would change, and nothing is written. It counts from when the scheduler has read the file again.",
    params: agentParams,
    input: editFileSchema,
    output: fileEditedSchema,
    audit: (_input, { agent, file, change: difference, written }) =>
      written ? { act: "edit", agent, detail: `${file}: ${changedLines(difference)}` } : null,
    problems: [403, 404, 409, 413],
    perform: ({ name, ...request }, { files }) => files.editFile(name, request),
  }),
] as const;
export const [showHosts, , showFiles] = fileOperations;

/** How many lines a unified difference adds and removes: `+2 −1`. */
function changedLines(change: string): string {
  const count = (sign: string): number =>
    change.split("\n").filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3)))
      .length;
  return `+${count("+")} −${count("-")} lines`;
}
