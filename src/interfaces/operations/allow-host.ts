import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import type { AgentConfig, NetworkConfig } from "../../../streams/agent-config.ts";
import { problemText } from "../../../streams/problem-text.ts";
import type { Edit } from "../../foundation/config/edit-toml.ts";
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
import { UserError } from "../../foundation/errors.ts";
import { applyEdit, filesOf } from "./edit-file.ts";
import type { EditContext } from "./edit-file.ts";
import { checkAgent } from "./project-files.ts";
import { knownAgent } from "./runnable.ts";
import { deniedDays } from "../../foundation/contracts/run-hosts.ts";
import { allowList } from "../../foundation/credentials/allowed-hosts.ts";

/** Adds a host to the allow list in the agent's own file. The scheduler reads the file again when it changed. */
export async function allowHost(
  name: string,
  request: AllowHostRequest,
  context: EditContext,
): Promise<HostAllowed> {
  const entry = entryOf(request);
  const files = await filesOf(name, context);
  const { network } = resolved(files, context.project$.value);
  const { edited } = await import("../../foundation/config/edit-toml.ts");
  const after = edited(files.config ?? "", allowEdit(entry, network));
  const edit = { files, file: "config.toml", after, dryRun: request.dryRun } as const;
  return { ...(await applyEdit(edit, context)), entry };
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
export function resolved(files: AgentFiles, project: ProjectConfig): AgentConfig {
  const { config, problems } = checkAgent(files, project);
  if (config !== null) return config;
  throw new UserError("invalid_config", problems.map(problemText).join("\n"));
}

/** The entry in place of the same one that is not private; no edit if the list has it. */
export function allowEdit(entry: string, network: NetworkConfig | null): readonly Edit[] {
  const own = network?.allow ?? [];
  if (own.includes(entry)) return [];
  const others = own.filter((one) => `${one} private` !== entry);
  return [{ path: ["network", "allow"], value: [...others, entry] }];
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
    isEditable: project$.value.gateway.edit,
    denied: denied.map((one) => ({ ...one, entry: allow && missingEntry(one, allow) })),
  };
}
