import type { WebhookEvent } from "../../../../streams/vocabulary.ts";
import { attributesOf } from "../../../../streams/triggers/attributes.ts";
import { keyOf } from "../../../../streams/triggers/key-template.ts";
import { validate as isUuid } from "uuid";
import { problemText } from "../../../../streams/problem-text.ts";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import { debounceText } from "../../../foundation/config/debounce.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";
import { checkAgents, loadProject } from "../../../runtime/agents/project-files.ts";
import { hasCode } from "../../../foundation/errors.ts";
import { openStoreReader } from "../../../foundation/store/store.ts";
import { gatheringOptions } from "../../../features/webhooks/gatherings.ts";
import { explain } from "../../../features/webhooks/binding-index.ts";
import { mustHaveReceipt } from "../../../features/webhooks/receipt-view.ts";
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
  /** The concurrency key of the work; null without one. */
  readonly key: string | null;
  /** The session key of the work; null without one. */
  readonly session: string | null;
  /** How the delivery gathers for a run; null if it starts its own. */
  readonly gathers: string | null;
}

/** Prints which agents a payload would start and why not the others, from the files alone: no server is needed. */
export async function testWebhook(
  context: Context,
  path: string,
  options: FixtureOptions,
): Promise<void> {
  const { out, projectDir } = context;
  const { project, name, type, read } = await payloadOf(context, path, options);
  const agents = read === null ? [] : await askAgents(projectDir, project, name, read);
  const event = read?.event ?? null;
  const attributes = event && attributesOf({ kind: "webhook", event });
  const ping = event === null;
  if (out.json) return out.document({ source: name, type, ping, event, attributes, agents });
  if (event === null) return out.data(`a ping of ${type}: it is answered and starts nothing`);
  out.data(describe(event));
  for (const [attribute, value] of Object.entries(attributes ?? {})) {
    out.data(plainLine(`  {${attribute}} ${value}`));
  }
  if (agents.length === 0) return out.note(`no agent listens to source ${name}`);
  out.data(`\n${render(agents, out)}`);
}

/** A payload from a file, or that of a stored delivery. */
async function payloadOf(context: Context, path: string, options: FixtureOptions) {
  if (!isUuid(path)) {
    const { project, source } = await sourceFor(context, options);
    const read = readFixture(await readFixtureFile(path, options), source, Date.now());
    return { project, name: source.name, type: source.type, read };
  }
  const store = openStoreReader(context.projectDir);
  try {
    const receipt = mustHaveReceipt((id) => store?.receipts.get(id) ?? null, path);
    const project = await loadProject(context.projectDir);
    const read = interpretStored(receipt, project.webhooks);
    return { project, name: receipt.source, type: receipt.type, read };
  } finally {
    store?.close();
  }
}

async function askAgents(
  projectDir: string,
  project: ProjectConfig,
  source: string,
  read: Interpreted,
): Promise<Answer[]> {
  const disabled = disabledIn(projectDir);
  const { checked } = await checkAgents(projectDir, project);
  return checked.flatMap(({ name: agent, config, problems }): Answer[] => {
    // The sources of an invalid config are unknown, so it is shown for every source.
    if (config === null) {
      return [{ ...no, agent, why: problems.map(problemText), key: null, session: null }];
    }
    const attributes = attributesOf({ kind: "webhook", event: read.event });
    const keyBy = (template = "") => (template === "" ? null : keyOf(template, attributes));
    const key = keyBy(config.concurrency?.key);
    const session = keyBy(config.session?.key);
    const stoppedBy = explain(config, source, read);
    if (stoppedBy === null) return [];
    const why = stoppedBy.map((entry) => entry.map((condition) => condition.why).join("; "));
    if (why.length > 0) return [{ ...no, agent, why, key, session }];
    const off = whyDisabled(config, disabled);
    if (off !== null) return [{ ...no, agent, why: [off], key, session }];
    const gathers = gathersText(config, read.event);
    return [{ agent, starts: true, why: [], key, session, gathers }];
  });
}

const no = { starts: false, gathers: null } as const;

function gathersText({ debounce }: AgentConfig, event: WebhookEvent): string | null {
  if (debounce === null) return null;
  const options = gatheringOptions(debounce, { kind: "webhook", event });
  if (options === null) return `starts its own run: no value for ${String(debounce.key)}`;
  return `gathers ${options.key === "" ? "" : `as ${options.key} `}${debounceText(debounce)}`;
}

/** Empty if the store has another format: the files alone still give an answer. */
function disabledIn(projectDir: string): ReadonlySet<string> {
  try {
    const store = openStoreReader(projectDir);
    try {
      return store?.settings.disabledAgents() ?? new Set();
    } finally {
      store?.close();
    }
  } catch (error) {
    if (hasCode(error, "store_older", "store_newer")) return new Set();
    throw error;
  }
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
  const hasKeys = agents.some(({ key }) => key !== null);
  const hasSessions = agents.some(({ session }) => session !== null);
  const rows = agents.flatMap(({ agent, starts, why, key, session, gathers }) => {
    const first = [
      agent,
      starts ? out.colors.green("yes") : "no",
      ...(hasKeys ? [plainLine(key ?? "")] : []),
      ...(hasSessions ? [plainLine(session ?? "")] : []),
    ];
    const lines = why.map((text, index) =>
      plainLine(why.length === 1 ? text : `${index + 1}. ${text}`),
    );
    return [
      [...first, lines[0] ?? gathers ?? ""],
      ...lines.slice(1).map((line) => [...first.map(() => ""), line]),
    ];
  });
  const keys = [...(hasKeys ? ["Key"] : []), ...(hasSessions ? ["Session key"] : [])];
  const titles = ["Agent", "Starts", ...keys, "Details"];
  return renderTable(titled(...titles), rows, out);
}
