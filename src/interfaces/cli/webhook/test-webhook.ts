import { existsSync } from "node:fs";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { WebhookEvent } from "../../../../streams/vocabulary.ts";
import { problemText } from "../../../../streams/problem-text.ts";
import { debounceText } from "../../../foundation/config/debounce.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";
import { checkAgents } from "../../../runtime/agents/project-files.ts";
import { hasCode } from "../../../foundation/errors.ts";
import { openStoreReader, type StoreReader } from "../../../foundation/store/store.ts";
import { explain } from "../../../features/webhooks/binding-index.ts";
import { gatheringOptions } from "../../../features/webhooks/gatherings.ts";
import { interpretStored, type Interpreted } from "../../../features/webhooks/interpret.ts";
import { readFixture } from "../../../features/webhooks/sign.ts";
import type { Context } from "../context.ts";
import { plainLine } from "../terminal/format.ts";
import type { Output } from "../terminal/output.ts";
import { renderTable, titled } from "../terminal/table.ts";
import { readFixtureFile, sourceFor, type FixtureOptions } from "./webhook-fixture.ts";

/** The effect of a payload on one agent that listens to the source. */
interface Answer {
  readonly agent: string;
  readonly starts: boolean;
  /** Why the agent does not start; one text for each `[[webhooks]]` entry or problem. */
  readonly why: readonly string[];
  /** How the delivery gathers for a run; null if it starts its own. */
  readonly gathers: string | null;
}

/**
 * Prints which agents a payload would start and why not the others, from the files alone: no server is needed. `path` is
 * a file, or the receipt's id of a stored delivery.
 */
export async function testWebhook(
  context: Context,
  path: string,
  options: FixtureOptions,
): Promise<void> {
  const { out, projectDir } = context;
  const stored = existsSync(path)
    ? null
    : inStore(projectDir, ({ receipts }) => receipts.get(path));
  const { project, source } = await sourceFor(
    context,
    stored === null ? options : { source: stored.source },
  );
  const read =
    stored === null
      ? readFixture(await readFixtureFile(path, options), source, Date.now())
      : interpretStored(stored);
  const { name, type } = source;
  const agents = read === null ? [] : await askAgents(projectDir, project, name, read);
  const event = read?.event ?? null;
  if (out.json) return out.document({ source: name, type, ping: event === null, event, agents });
  if (event === null) return out.data(`a ping of ${type}: it is answered and starts nothing`);
  out.data(describe(event));
  if (agents.length === 0) return out.note(`no agent listens to source ${name}`);
  out.data(`\n${render(agents, out)}`);
}

async function askAgents(
  projectDir: string,
  project: ProjectConfig,
  source: string,
  read: Interpreted,
): Promise<Answer[]> {
  const disabled =
    inStore(projectDir, ({ settings }) => settings.disabledAgents()) ?? new Set<string>();
  const { checked } = await checkAgents(projectDir, project);
  return checked.flatMap(({ name: agent, config, problems }): Answer[] => {
    // The sources of an invalid config are unknown, so it is shown for every source.
    if (config === null) return [{ agent, ...no, why: problems.map(problemText) }];
    const stoppedBy = explain(config, source, read);
    if (stoppedBy === null) return [];
    const why = stoppedBy.map((entry) => entry.map((condition) => condition.why).join("; "));
    if (why.length > 0) return [{ agent, ...no, why }];
    const off = whyDisabled(config, disabled);
    if (off !== null) return [{ agent, ...no, why: [off] }];
    return [{ agent, starts: true, gathers: gathersText(config, read.event), why: [] }];
  });
}

const no = { starts: false, gathers: null } as const;

/** Null if the store is missing or has another format: the files alone still give an answer. */
function inStore<T>(projectDir: string, read: (store: StoreReader) => T): T | null {
  try {
    const store = openStoreReader(projectDir);
    try {
      return store && read(store);
    } finally {
      store?.close();
    }
  } catch (error) {
    if (hasCode(error, "store_older", "store_newer")) return null;
    throw error;
  }
}

function gathersText({ debounce }: AgentConfig, event: WebhookEvent): string | null {
  if (debounce === null) return null;
  const options = gatheringOptions(debounce, { kind: "webhook", event });
  if (options === null) return `starts its own run: no value for ${String(debounce.key)}`;
  return `gathers ${options.key === "" ? "" : `as ${options.key} `}${debounceText(debounce)}`;
}

function whyDisabled(
  { name, scale }: { readonly name: string; readonly scale: number },
  disabled: ReadonlySet<string>,
): string | null {
  if (scale === 0) return "disabled: scale = 0 in its config.toml";
  return disabled.has(name) ? `disabled: al resume ${name} enables it` : null;
}

/** `github issues opened, Codertocat/Hello-World #1: Spelling error` */
function describe({ type, event, action, repo, number, title }: WebhookEvent): string {
  const place = [repo, number === null ? null : `#${number}`].filter((part) => part !== null);
  const kind = [type, event, action].filter((part) => part !== null).join(" ");
  const where = place.length === 0 ? "" : `, ${place.join(" ")}`;
  return plainLine(`${kind}${where}${title === null ? "" : `: ${title}`}`);
}

function render(agents: readonly Answer[], out: Output): string {
  const rows = agents.flatMap(({ agent, starts, why, gathers }) => {
    const first = [agent, starts ? out.colors.green("yes") : "no"];
    const lines = why.map((text, index) =>
      plainLine(why.length === 1 ? text : `${index + 1}. ${text}`),
    );
    return [[...first, lines[0] ?? gathers ?? ""], ...lines.slice(1).map((line) => ["", "", line])];
  });
  return renderTable(titled("Agent", "Starts", "Details"), rows, out);
}
