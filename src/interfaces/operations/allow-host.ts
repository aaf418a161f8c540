import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import { join } from "node:path";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { problemText } from "../../../streams/problem-text.ts";
import { readAgent } from "../../foundation/config/agent-files.ts";
import type { AgentFiles } from "../../foundation/config/agent-files.ts";
import {
  allowEntry,
  canonicalHost,
  parseAllowEntry,
  missingEntry,
} from "../../foundation/contracts/network-allow.ts";
import type {
  AllowHostRequest,
  HostAllowed,
  AgentHosts,
} from "../../foundation/contracts/run-hosts.ts";
import { messageOf, UserError } from "../../foundation/errors.ts";
import { replaceText } from "../../foundation/files/replace-file.ts";
import { checkAgent } from "./project-files.ts";
import { knownAgent } from "./runnable.ts";
import { deniedDays } from "../../foundation/contracts/run-hosts.ts";
import { allowList } from "../../foundation/credentials/allowed-hosts.ts";

type AllowHostContext = Pick<SchedulerContext, "status" | "project$" | "projectDir">;

/** Adds hosts to the allow lists in agents' own files. The scheduler reads a file again when it changed. */
export function createAllowHost(
  context: AllowHostContext,
): (agent: string, request: AllowHostRequest) => Promise<HostAllowed> {
  let last: Promise<unknown> = Promise.resolve();
  // One after the other: each edit begins with the text that the edit before has written.
  return (agent, request) => {
    const next = last.then(() => allowHost(agent, request, context));
    last = next.catch(() => undefined);
    return next;
  };
}

async function allowHost(
  name: string,
  request: AllowHostRequest,
  { status, project$, projectDir }: AllowHostContext,
): Promise<HostAllowed> {
  const entry = entryOf(request);
  const file = `agents/${name}/config.toml`;
  const files = knownAgent(status, name).removed ? null : await readAgent(projectDir, name);
  if (files === null) throw new UserError("unknown_agent", `there is no ${file}`);
  const before = files.config ?? "";
  const after = await withEntry(entry, resolved(files, project$.value), before);
  // An invalid result is rejected here, where the caller sees it, and not at the reload.
  resolved({ ...files, config: after }, project$.value);
  const { textDifference } = await import("../../features/versions/difference.ts");
  const change = textDifference([file, file], before, after);
  const written = change !== "" && !request.dryRun;
  if (written) await replaceText(join(projectDir, file), after).catch(unwritable(file));
  return { success: true, agent: name, entry, file, change, written };
}

/** Throws UserError `invalid_host`. */
function entryOf({ host, port, private: isPrivate }: AllowHostRequest): string {
  const canonical = canonicalHost(host.includes(":") ? `[${host.replace(/^\[|\]$/g, "")}]` : host);
  const entry = allowEntry({ host: canonical ?? host, port, ...(isPrivate && { isPrivate }) });
  const parsed = parseAllowEntry(entry);
  if (typeof parsed !== "string") return entry;
  throw new UserError("invalid_host", parsed);
}

/** Throws UserError `invalid_config`. */
function resolved(files: AgentFiles, project: ProjectConfig): AgentConfig {
  const { config, problems } = checkAgent(files, project);
  if (config !== null) return config;
  throw new UserError("invalid_config", problems.map(problemText).join("\n"));
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
    throw new UserError("refused", message, { cause: error });
  };
}

const dayMs = 86_400_000;

/** The hosts that an agent's runs were denied, each with the entry that allows it. Rejects with `unknown_agent`. */
export async function agentHosts(
  name: string,
  { status, store, project$, credential }: SchedulerContext,
): Promise<AgentHosts> {
  const { config } = knownAgent(status, name);
  await store.hosts.flush();
  const denied = store.hosts.deniedTo(name, Date.now() - deniedDays * dayMs);
  const allow = config && (await allowList(config, project$.value.network, credential));
  return {
    days: deniedDays,
    denied: denied.map((one) => ({ ...one, entry: allow && missingEntry(one, allow) })),
  };
}
