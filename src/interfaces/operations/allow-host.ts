import { join } from "node:path";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { problemText } from "../../../streams/problem-text.ts";
import { readAgent } from "../../foundation/config/agent-files.ts";
import type { AgentFiles } from "../../foundation/config/agent-files.ts";
import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import { resolveAgent } from "../../foundation/config/resolve-agent.ts";
import {
  allowEntry,
  canonicalHost,
  parseAllowEntry,
} from "../../foundation/contracts/network-allow.ts";
import { OperationError } from "../../foundation/contracts/operations.ts";
import type { AllowHostRequest, HostAllowed } from "../../foundation/contracts/run-hosts.ts";
import { messageOf } from "../../foundation/errors.ts";
import { replaceText } from "../../foundation/files/replace-file.ts";
import { knownToAgents } from "./known-to-agents.ts";
import type { StatusStore } from "../../runtime/scheduler/status-store.ts";
import { knownAgent } from "./runnable.ts";

export interface AllowHostDeps {
  readonly status: Pick<StatusStore, "agent">;
  readonly project: () => ProjectConfig;
  /** Absolute. */
  readonly projectDir: string;
}

/** Adds hosts to the allow lists in agents' own files. The scheduler reads a file again when it changed. */
export function createAllowHost(
  deps: AllowHostDeps,
): (agent: string, request: AllowHostRequest) => Promise<HostAllowed> {
  let last: Promise<unknown> = Promise.resolve();
  // One after the other: each begins with what the one before has written.
  return (agent, request) => {
    const next = last.then(() => allowHost(agent, request, deps));
    last = next.catch(() => undefined);
    return next;
  };
}

async function allowHost(
  name: string,
  request: AllowHostRequest,
  { status, project, projectDir }: AllowHostDeps,
): Promise<HostAllowed> {
  const entry = entryOf(request);
  const file = `agents/${name}/config.toml`;
  const files = knownAgent(status, name).removed ? null : await readAgent(projectDir, name);
  if (files === null) throw new OperationError("unknown_agent", `there is no ${file}`);
  const before = files.config ?? "";
  const after = await withEntry(entry, resolved(files, project()), before);
  // It is refused here, where that can be shown, and not when it is loaded.
  resolved({ ...files, config: after }, project());
  const { textDifference } = await import("../../features/versions/difference.ts");
  const change = textDifference([file, file], before, after);
  const written = change !== "" && !request.dryRun;
  if (written) await replaceText(join(projectDir, file), after).catch(unwritable(file));
  return { success: true, agent: name, entry, file, change, written };
}

/** Throws OperationError `invalid_host`. */
function entryOf({ host, port, private: isPrivate }: AllowHostRequest): string {
  const canonical = canonicalHost(host.includes(":") ? `[${host.replace(/^\[|\]$/g, "")}]` : host);
  const entry = allowEntry({ host: canonical ?? host, port, ...(isPrivate && { isPrivate }) });
  const parsed = parseAllowEntry(entry);
  if (typeof parsed !== "string") return entry;
  throw new OperationError("invalid_host", parsed);
}

/** Throws OperationError `invalid_config`. */
function resolved(files: AgentFiles, project: ProjectConfig): AgentConfig {
  const change = resolveAgent(files, project, knownToAgents());
  if (change.type === "set") return change.agent;
  throw new OperationError("invalid_config", change.problems.map(problemText).join("\n"));
}

/** The file's text with the entry in place of the same one that is not private. */
async function withEntry(entry: string, { network }: AgentConfig, text: string): Promise<string> {
  const own = network?.allow ?? [];
  if (own.includes(entry)) return text;
  const others = own.filter((one) => `${one} private` !== entry);
  const allow = { path: ["network", "allow"], value: [...others, entry] };
  const { edited } = await import("../../foundation/config/edit-toml.ts");
  return edited(text, [allow]);
}

function unwritable(file: string): (error: unknown) => never {
  return (error) => {
    const message = `${file} can't be written: ${messageOf(error)}`;
    throw new OperationError("refused", message, { cause: error });
  };
}
