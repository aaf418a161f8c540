import { attributeMeanings, attributeNames } from "../../../streams/triggers/attributes.ts";
import type { Provider } from "./provider.ts";

/**
 * The reference page of all providers, as markdown: the proof of a delivery, the filters, and the attributes. `known` has
 * the attributes that events of each type have.
 */
export function webhookReference(
  providers: Iterable<Provider>,
  known: ReadonlyMap<string, ReadonlySet<string>>,
): string {
  return `${[intro, ...[...providers].map(section), attributes(known)].join("\n\n")}\n`;
}

function attributes(known: ReadonlyMap<string, ReadonlySet<string>>): string {
  const others: Partial<Record<string, string>> = {
    trigger: "every trigger",
    caller: "calls",
    schedule: "schedules",
  };
  const rows = attributeNames.map((name) => {
    const types = [...known].flatMap(([type, names]) => (names.has(name) ? type : []));
    return `| \`${name}\` | ${cell(attributeMeanings[name])} | ${others[name] ?? types.join(", ")} |`;
  });
  return [aboutAttributes, "", "| attribute | meaning | of |", "|---|---|---|", ...rows].join("\n");
}

const aboutAttributes = `## Attributes

Templates, such as the \`key\` of an agent's \`[concurrency]\`, name attributes of a trigger: \`"{repository}#{number}"\`. Not every event of a
type has all of them; \`al webhook test <file or receipt ID>\` prints the ones of a delivery, and the key of each agent.`;

const intro = `# Webhook providers

Each section is a \`type\` of a source in the project's \`config.toml\`, with the filters of an agent's \`[[webhooks]]\` entry for such a
source. All filters of an entry must match. A list matches if one of its values does. A field that is not in the event
matches nothing. An entry without filters matches every event of the source, apart from deletions of branches and tags, which it has
to ask for.

For values without a filter, use \`where\`, with every type of source. It maps dotted paths in the payload to required values. A
number in a path is an index of a list. Strings, numbers, true and false must be equal.

\`\`\`toml
[[webhooks]]
source = "errors"
where = { "data.issue.level" = "fatal", "data.issue.project.slug" = "web" }
\`\`\`

\`al webhook test <file>\` shows which agents a payload would start, and which condition excludes the others.`;

function section({ type, about, filters, isKnownByBody }: Provider): string {
  const rows = Object.entries(filters).map(
    ([name, { kind, meaning, values }]) =>
      `| \`${name}\` | ${kinds[kind]} | ${cell(meaning)}${values === undefined ? "" : `: ${values.join(", ")}`} |`,
  );
  const known = isKnownByBody === true ? " The same body is a duplicate under any ID." : "";
  const note = about.note === null ? "" : ` ${about.note}`;
  return [
    `## ${type}`,
    "",
    `Proof: ${about.proof}.${known}${note}`,
    "",
    "| filter | value | meaning |",
    "|---|---|---|",
    ...rows,
  ].join("\n");
}

const kinds = { strings: "list of strings", string: "string", boolean: "true or false" } as const;

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
