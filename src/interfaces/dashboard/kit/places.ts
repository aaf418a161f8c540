import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { setEnabled, triggerRun } from "../live/agent-requests.ts";
import { agentAddress, logAddress, runAddress, withQuery } from "../text/addresses.ts";
import { joined } from "../text/format.ts";
import type { IconName } from "./icon.tsx";
import type { usePause } from "./pause.tsx";
import type { SitePage } from "./shortcuts.tsx";

/** Where a reader can go, or what a reader can do. */
export type Place = {
  readonly words: string;
  readonly hint?: string;
  readonly icon?: IconName;
  /** The class of its mark's colour; without an icon. */
  readonly tone?: string;
} & ({ readonly href: string } | { readonly href?: undefined; readonly act: () => unknown });

export interface PlaceSources {
  readonly pages: readonly SitePage[];
  readonly pause: ReturnType<typeof usePause>;
  /** Without the status only the names are known. */
  readonly agents: readonly (AgentStatus | { readonly name: string })[];
}

/** An instance's name: its agent's, and eight letters or digits. */
const instance = /^(.+)-[a-z2-7]{8}$/;

/** All places, in the order in which equal matches are listed. */
export function placesOf({ pages, pause, agents }: PlaceSources, query: string): readonly Place[] {
  const text = query.trim();
  const [, agentOfRun] = instance.exec(text) ?? [];
  const { resume, ask } = pause;
  const places: Place[] = agents.map(agentPlace);
  if (agents.some(({ name }) => name === agentOfRun)) {
    places.unshift({
      words: text,
      hint: "run",
      icon: "run",
      href: runAddress(agentOfRun ?? "", text),
    });
  }
  for (const [icon, href, words, letter] of pages)
    places.push({ words, hint: `g ${letter}`, icon, href });
  if (resume !== null) places.push({ words: "Resume the scheduler", icon: "enable", act: resume });
  places.push(
    {
      words: "Pause …",
      hint: "schedules or all new work",
      icon: "disable",
      act: () => ask("work"),
    },
    { words: "Stop everything …", icon: "disable", act: () => ask("everything") },
  );
  // A project has hundreds of these: a reader types a part of them first.
  if (text !== "") places.push(...agents.flatMap(agentActions));
  return places;
}

function agentPlace(agent: PlaceSources["agents"][number]): Place {
  const { name } = agent;
  const href = agentAddress(name);
  if (!("state" in agent)) return { words: name, href };
  const isAsking = agent.blockedBy === "person";
  return {
    words: name,
    hint: joined([agent.state, agent.blockedBy, !agent.enabled && "disabled"]),
    tone: isAsking ? "asking" : agent.state,
    href,
  };
}

function agentActions(agent: PlaceSources["agents"][number]): readonly Place[] {
  const { name } = agent;
  const isEnabled = !("enabled" in agent) || agent.enabled;
  return [
    { words: `Run ${name}`, icon: "run", act: () => triggerRun(name) },
    {
      words: `${isEnabled ? "Disable" : "Enable"} ${name}`,
      icon: isEnabled ? "disable" : "enable",
      act: () => setEnabled(name, !isEnabled),
    },
    { words: `Log of ${name}`, icon: "audit", href: logAddress(name) },
  ];
}

const mostPlaces = 12;

/** The places with all words of a query, those that begin with it first; then the search for it. */
export function matchesOf(places: readonly Place[], query: string): readonly Place[] {
  const text = query.trim().toLowerCase();
  const words = text.split(/\s+/);
  const found = places
    .map((place) => ({ place, name: place.words.toLowerCase() }))
    .filter(({ name }) => words.every((word) => name.includes(word)))
    .map(({ place, name }) => ({ place, rank: rankOf(name, text) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ place }) => place);
  if (text === "") return found.slice(0, mostPlaces);
  const search: Place = {
    words: `Search all logs for “${query.trim()}”`,
    icon: "search",
    href: withQuery("/dashboard/search", { q: query.trim() }),
  };
  return [...found.slice(0, mostPlaces - 1), search];
}

function rankOf(name: string, text: string): number {
  if (name === text) return 0;
  if (name.startsWith(text)) return 1;
  return name.includes(text) ? 2 : 3;
}
