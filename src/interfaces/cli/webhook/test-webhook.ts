import type { WebhookEvent } from "../../../../streams/vocabulary.ts";
import { problemText } from "../../../../streams/problem-text.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";
import { readAllAgents } from "../../../foundation/config/read-all-agents.ts";
import { resolveAgent } from "../../../foundation/config/resolve-agent.ts";
import { knownToAgents } from "../../operations/known-to-agents.ts";
import { readDisabledAgents } from "../../../foundation/store/disabled-agents.ts";
import { explain } from "../../../features/webhooks/explain.ts";
import type { Interpreted } from "../../../features/webhooks/interpret.ts";
import { readFixture } from "../../../features/webhooks/read-fixture.ts";
import type { Context } from "../context.ts";
import { plainLine } from "../terminal/format.ts";
import type { Output } from "../terminal/output.ts";
import { renderTable } from "../terminal/table.ts";
import type { TableColumn } from "../terminal/table.ts";
import { readFixtureFile, sourceFor } from "./webhook-fixture.ts";
import type { FixtureOptions } from "./webhook-fixture.ts";

/** What a payload would do with one agent that listens to the source. */
interface Answer {
  readonly agent: string;
  readonly starts: boolean;
  /** Why it does not start; one text for each `[[webhooks]]` entry or problem. */
  readonly why: readonly string[];
}

/** Prints which agents a payload would start and why not the others, from the files alone: no server is needed. */
export async function testWebhook(
  context: Context,
  path: string,
  options: FixtureOptions,
): Promise<void> {
  const { out, projectDir } = context;
  const { project, source } = await sourceFor(context, options);
  const fixture = await readFixtureFile(path, options);
  const read = readFixture(fixture, source, Date.now());
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
  const disabled = readDisabledAgents(projectDir);
  const { agents } = await readAllAgents(projectDir);
  const known = knownToAgents();
  return [...agents.values()].flatMap((one): Answer[] => {
    const change = resolveAgent(one, project, known);
    // Its sources are not known, so it is shown for every source.
    if (change.type === "invalid") {
      return [{ agent: one.name, starts: false, why: change.problems.map(problemText) }];
    }
    const verdict = explain(change.agent, source, read);
    if (verdict === null) return [];
    const { agent, starts, stoppedBy } = verdict;
    if (!starts) return [{ agent, starts, why: stoppedBy.map((filters) => filters.join("; ")) }];
    const off = whyDisabled(change.agent, disabled);
    return [{ agent, starts: off === null, why: off === null ? [] : [off] }];
  });
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
  const what = [type, event, action].filter((part) => part !== null).join(" ");
  const where = place.length === 0 ? "" : `, ${place.join(" ")}`;
  return plainLine(`${what}${where}${title === null ? "" : `: ${title}`}`);
}

const columns: readonly TableColumn[] = [
  { title: "Agent" },
  { title: "Starts" },
  { title: "Why not", shrinks: true },
];

function render(agents: readonly Answer[], { colors, columns: width }: Output): string {
  const rows = agents.flatMap(({ agent, starts, why }) => {
    const first = [agent, starts ? colors.green("yes") : "no"];
    const lines = why.map((text, index) =>
      plainLine(why.length === 1 ? text : `${index + 1}. ${text}`),
    );
    return [[...first, lines[0] ?? ""], ...lines.slice(1).map((line) => ["", "", line])];
  });
  return renderTable(columns, rows, { width, colors });
}
