import type { Provider } from "./provider.ts";

/** The reference page of all providers, as markdown: the proof of a delivery, and the filters. */
export function webhookReference(providers: Iterable<Provider>): string {
  return `${[intro, ...[...providers].map(section)].join("\n\n")}\n`;
}

const intro = `# Webhook providers

\`type\` of a source in the project's \`config.toml\`, and the filters that an agent's \`[[webhooks]]\` entry for such a
source may have. Every filter that is given must match; a list matches when one of its values does; a field that an event
doesn't carry matches nothing. Without filters every event of the source starts the agent.

What no filter tells is compared by \`where\`, in entries for every type of source: values that the payload must have, by
dotted paths in it. A number in a path is an index of a list; texts, numbers, true and false must be equal.

\`\`\`toml
[[webhooks]]
source = "errors"
where = { "data.issue.level" = "fatal", "data.issue.project.slug" = "web" }
\`\`\`

\`al webhook test <file>\` says which agents a payload would start, and which condition stops the others.`;

function section({ type, about, filters, isKnownByBody }: Provider): string {
  const rows = Object.entries(filters).map(
    ([name, { kind, meaning, values }]) =>
      `| \`${name}\` | ${kinds[kind]} | ${cell(meaning)}${values === undefined ? "" : `: ${values.join(", ")}`} |`,
  );
  const known = isKnownByBody === true ? " The same body again is a duplicate under any id." : "";
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
