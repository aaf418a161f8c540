import { oneAtATime } from "../../foundation/contracts/one-at-a-time.ts";
import type { AgentConfig, NetworkConfig } from "../../../streams/agent-config.ts";
import { problemText } from "../../../streams/problem-text.ts";
import type { AgentFiles } from "../../foundation/config/agent-files.ts";
import type { Edit } from "../../foundation/config/edit-toml.ts";
import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import type { EditFileRequest, FileEdited } from "../../foundation/contracts/file-edits.ts";
import {
  allowEntry,
  canonicalHost,
  parseAllowEntry,
  missingEntry,
  isFor,
} from "../../foundation/contracts/network-allow.ts";
import type { Question } from "../../foundation/contracts/questions.ts";
import { deniedDays } from "../../foundation/contracts/run-hosts.ts";
import type {
  AllowHostRequest,
  HostAllowed,
  AgentHosts,
} from "../../foundation/contracts/run-hosts.ts";
import { allowList } from "../../foundation/credentials/allowed-hosts.ts";
import { storedSecrets } from "../../foundation/credentials/list-credentials.ts";
import { Problem } from "../../foundation/errors.ts";
import { agentFiles, editFile, applyEdit, filesOf } from "./edit-file.ts";
import { checkAgent } from "./project-files.ts";
import { knownAgent } from "../../foundation/scheduler/known-agent.ts";

/** The operations that read and change agents' own files. The scheduler reads a file again when it changed. */
export function createFileEdits(context: SchedulerContext) {
  const serially = oneAtATime();
  const learned = new Set<string>();
  // A credential that no run has loaded yet is hidden too, and the text stays the same when one does.
  const learn = async (): Promise<void> => {
    const stored = await storedSecrets(context.home).catch(() => []);
    const added = stored.filter((secret) => !learned.has(secret));
    for (const secret of added) learned.add(secret);
    context.redactor.add(added);
  };
  // Edits run one after the other: each begins with the text that the previous one has written.
  const inTurn = <T>(edit: () => Promise<T>): Promise<T> => serially(() => learn().then(edit));
  return {
    /** The texts and problems of an agent's files, secrets redacted. Rejects with Problem `unknown_agent`. */
    agentFiles: async (agent: string) => {
      await learn();
      return agentFiles(agent, context);
    },
    /**
     * Replaces the text of an agent's file, or shows the change. Rejects with Problem `unknown_agent`, `read_only`,
     * `conflict`, `invalid_config` or `refused`.
     */
    editFile: (agent: string, request: EditFileRequest) =>
      inTurn(() => editFile(agent, request, context)),
    /**
     * Changes the agent's file so that a gate no longer holds the host or call; resolves with what undoes that. Both reject as
     * `editFile`.
     */
    allowAlways: async (allowed: Question) => {
      const undo = await inTurn(() => allowAlways(allowed, context));
      return () => inTurn(undo);
    },
    /** Adds a host to the allow list in the agent's file, or shows the change. Rejects as `editFile`, or with `invalid_host`. */
    allowHost: (agent: string, request: AllowHostRequest) =>
      inTurn(() => allowHost(agent, request, context)),
  };
}

export type FileEdits = ReturnType<typeof createFileEdits>;

/** Adds a host to the allow list in the agent's own file. The scheduler reads the file again when it changed. */
async function allowHost(
  name: string,
  request: AllowHostRequest,
  context: SchedulerContext,
): Promise<HostAllowed> {
  const entry = entryOf(request);
  const files = await filesOf(name, context);
  const { network } = resolved(files, context.project$.value);
  const { edited } = await import("../../foundation/config/edit-toml.ts");
  const after = edited(files.config ?? "", allowEdit(entry, network));
  const edit = { files, file: "config.toml", after, dryRun: request.dryRun } as const;
  return { ...(await applyEdit(edit, context)), entry };
}

/** Throws Problem `invalid_host`. */
function entryOf({ host, port, private: isPrivate }: AllowHostRequest): string {
  const canonical = canonicalHost(host.includes(":") ? `[${host.replace(/^\[|\]$/g, "")}]` : host);
  const entry = allowEntry({ host: canonical ?? host, port, ...(isPrivate && { isPrivate }) });
  const parsed = parseAllowEntry(entry);
  if (typeof parsed !== "string") return entry;
  throw new Problem("invalid_host", parsed);
}

/** Throws Problem `invalid_config`. */
function resolved(files: AgentFiles, project: ProjectConfig): AgentConfig {
  const { config, problems } = checkAgent(files, project);
  if (config !== null) return config;
  throw new Problem("invalid_config", problems.map(problemText).join("\n"));
}

/** The entry in place of the same one that is not private; no edit if the list has it. */
function allowEdit(entry: string, network: NetworkConfig | null): readonly Edit[] {
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

/**
 * Removes a host, an agent or a tool from `[approve]` in the agent's own file, and adds a host to its `[network].allow`. A wildcard
 * stays, and no longer holds that host. Rejects as `editFile` does. The result puts the earlier text back.
 */
async function allowAlways(
  { agent, kind, subject }: Question,
  context: SchedulerContext,
): Promise<() => Promise<FileEdited>> {
  const files = await filesOf(agent, context);
  const config = resolved(files, context.project$.value);
  const edits =
    kind === "host"
      ? hostEdits(subject, config)
      : liftEdits(kind === "tool" ? "tools" : "agents", subject, config);
  const { edited } = await import("../../foundation/config/edit-toml.ts");
  const before = files.config ?? "";
  const after = edited(before, edits);
  const edit = { file: "config.toml", dryRun: false } as const;
  await applyEdit({ ...edit, files, after }, context);
  return () => applyEdit({ ...edit, files: { ...files, config: after }, after: before }, context);
}

function hostEdits(subject: string, { approve, network }: AgentConfig): readonly Edit[] {
  const asked = parseAllowEntry(subject);
  if (typeof asked === "string") throw new Error(asked);
  const { host, port } = asked;
  const parsed = (approve?.hosts ?? []).map((text) => ({ text, entry: parseAllowEntry(text) }));
  const held = parsed.flatMap(({ text, entry }) =>
    typeof entry !== "string" && isFor(entry, host, port) ? [{ ...entry, text }] : [],
  );
  const exact = held.filter(({ isWildcard }) => !isWildcard).map(({ text }) => text);
  const isPrivate = held.some((entry) => entry.isPrivate);
  const entry = allowEntry({ host, port, ...(isPrivate && { isPrivate }) });
  const rest = parsed.map(({ text }) => text).filter((text) => !exact.includes(text));
  const lift = exact.length === 0 ? [] : [{ path: ["approve", "hosts"], value: rest }];
  return [...lift, ...allowEdit(entry, network)];
}

/** Removes a name from a list of `[approve]`. */
function liftEdits(
  key: "agents" | "tools",
  subject: string,
  { approve }: AgentConfig,
): readonly Edit[] {
  const names = approve?.[key] ?? [];
  if (!names.includes(subject)) return [];
  return [{ path: ["approve", key], value: names.filter((name) => name !== subject) }];
}
