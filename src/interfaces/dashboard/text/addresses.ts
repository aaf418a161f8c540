import { placeOf } from "../../../features/memory/memory-place.ts";

/** A path whose values are encoded: pathOf`/api/runs/${instanceId}`. */
export function pathOf(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return String.raw({ raw: parts }, ...values.map((value) => encodeURIComponent(value)));
}

/** The address of an agent's page. */
export function agentAddress(agent: string): string {
  return pathOf`/dashboard/agents/${agent}`;
}

/** The address of an agent's questions to people. */
export function questionsAddress(agent: string): string {
  return withQuery("/dashboard/questions", { agent });
}

/** The address of the page of a run. */
export function runAddress(agent: string, instanceId: string): string {
  return `${agentAddress(agent)}/runs/${encodeURIComponent(instanceId)}`;
}

/** The address of an agent's log; optionally with the lines of one run only, or those with a text. */
export function logAddress(
  agent: string,
  instanceId: string | null = null,
  text: string | null = null,
): string {
  return withQuery(`${agentAddress(agent)}/logs`, { instance: instanceId, q: text });
}

/** The address of a file that a run left; its path keeps its slashes. */
export function artifactAddress(instanceId: string, path: string): string {
  const names = path.split("/").map((name) => encodeURIComponent(name));
  return `${pathOf`/api/runs/${instanceId}/files`}/${names.join("/")}`;
}

/** The address of the log around one line, whose position is its `LogLine.id`. `matches` says which lines are matches. */
export function lineAddress(
  agent: string,
  position: string,
  instanceId: string | null = null,
  matches: QueryValues = {},
): string {
  return withQuery(`${agentAddress(agent)}/logs`, {
    instance: instanceId,
    at: position,
    ...matches,
  });
}

/** The address of the triggers of an agent. */
export function triggersAddress(agent: string): string {
  return withQuery("/dashboard/triggers", { agent });
}

/** The address of the changes to an agent's config and instructions, from one run to a later one. */
export function changesAddress(agent: string, instanceId: string, since: string): string {
  return withQuery(`${runAddress(agent, instanceId)}/changes`, { to: since });
}

/** More words would tell equal errors apart. */
const wordsOfError = 12;
/** A search accepts at most 400. */
const charactersOfError = 300;

/** The address of the search for the first lines with an error. */
export function firstSeenAddress(error: string): string {
  const words = error.split(/["\s]+/).filter((word) => word !== "");
  const phrase = words.slice(0, wordsOfError).join(" ");
  return withQuery("/dashboard/search", { q: phraseOf(phrase), order: "oldest" });
}

function phraseOf(text: string): string {
  if (text.length <= charactersOfError) return `"${text}"`;
  // A single letter begins too many words.
  return `"${text.slice(0, charactersOfError).replace(/[^a-z0-9][a-z0-9]?$/i, "")}"*`;
}

type QueryValues = Readonly<Record<string, string | number | null | undefined>>;

/** A path with those parameters that have a value. */
export function withQuery(path: string, values: QueryValues): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === null || value === undefined || value === ""
      ? []
      : [`${name}=${encodeURIComponent(value)}`],
  );
  return given.length === 0 ? path : `${path}?${given.join("&")}`;
}

/** Begins the addresses of an agent's own API. */
export function agentApi(agent: string): string {
  return pathOf`/api/agents/${agent}`;
}

/** Begins the addresses of the API of a memory: `<agent>`, or `shared/<name>`. */
export function memoryApi(name: string): string {
  const { at, name: inPath } = placeOf(name);
  return at.replace(":name", encodeURIComponent(inPath));
}

/** The address of the API for its spending. */
export function spendPath(agent: string): string {
  return withQuery("/api/spend", { agent });
}

/** The charts show more runs than the table. */
const chartedRuns = 30;

/** The address of the API for its last runs. */
export function runsPath(agent: string): string {
  return withQuery("/api/stats/triggers", { agent, limit: chartedRuns });
}

/** For how many days the reasons are shown why an agent did not run. */
export const whyDays = 7;
const dayMs = 86_400_000;
/** How many reasons of each kind are read: deliveries are compared with the agent's filters anew. */
const mostReasons = 60;

/** The address of the API for the reasons why it did not run. */
export function whyPath(agent: string, now: number): string {
  const since = new Date(now - whyDays * dayMs).toISOString();
  return withQuery(`${agentApi(agent)}/why-not`, { since, limit: mostReasons });
}
