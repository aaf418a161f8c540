import type { CommandEntry, ValueEntry } from "../help/command-table.ts";
import { agentsIn, tablesIn } from "./project-names.ts";
import type { Proposal, Proposals } from "./proposal.ts";

/** What the values depend on. */
interface ValuePlace {
  readonly command: CommandEntry;
  readonly given: readonly string[];
  readonly projectDir: string;
}

/** By what help writes between the brackets: one name for one thing. */
export async function valuesOf(value: ValueEntry, place: ValuePlace): Promise<Proposals> {
  const { name, choices } = value;
  if (choices.length > 0) return choices.map((word) => ({ word }));
  if (name === "dir" || name === "repo") return "@directories";
  if (name === "path" || name === "fixture") return "@files";
  const propose = Object.hasOwn(proposers, name) ? proposers[name] : undefined;
  const proposals = (await propose?.(place)) ?? [];
  // A shell that expands words runs nothing in these.
  return proposals.filter(({ word }) => /^[\w.:-]+$/.test(word));
}

type Propose = (place: ValuePlace) => readonly Proposal[] | Promise<readonly Proposal[]>;

const agents: Propose = ({ projectDir }) => agentsIn(projectDir).map(named);

/** What not every completion needs is loaded by those that do: a person waits for it. */
const proposers: Readonly<Record<string, Propose>> = {
  agent: agents,
  "agent|instance": async (place) => [...(await agents(place)), ...(await instances(place))],
  run: async (place) => [...(await agents(place)), ...(await instances(place))],
  instance: (place) => instances(place),
  "receiptId|triggerId": async ({ projectDir }) => {
    const { recentTriggers } = await import("./recent-ids.ts");
    return recentTriggers(projectDir);
  },
  scope: async (place) => [{ word: "project" }, ...(await agents(place))],
  target: ({ projectDir }) => tablesIn(projectDir, "alerts").map(named),
  // `al new` takes the provider's own name, and has no project yet.
  model: ({ command, projectDir }) =>
    command.path[1] === "new" ? [] : tablesIn(projectDir, "models").map(named),
  source: ({ projectDir }) => tablesIn(projectDir, "webhooks").map(named),
  credential: async ({ command }) => {
    const { credentialsFor } = await import("./credential-names.ts");
    return credentialsFor(command.path.at(-1) === "rm").map(named);
  },
  key: (place) => configKeys(place),
  "key=value": (place) => configKeys(place),
};

async function instances({ projectDir }: ValuePlace): Promise<readonly Proposal[]> {
  const { recentInstances } = await import("./recent-ids.ts");
  return recentInstances(projectDir);
}

async function configKeys({ given, projectDir }: ValuePlace): Promise<readonly Proposal[]> {
  const { configKeysOf } = await import("./config-keys.ts");
  return configKeysOf(given.length === 0 ? "project" : "agent", projectDir);
}

function named(word: string): Proposal {
  return { word };
}
