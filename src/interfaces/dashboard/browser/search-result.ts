import type { SearchMatch, SearchRun } from "../../../foundation/contracts/search.ts";
import { counted, outcomeText } from "../../../foundation/contracts/format.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { agentAddress, lineAddress, logAddress, runAddress } from "./addresses.ts";
import { create, createLink, setAttributes } from "./dom.ts";
import { costText, exactTime } from "./format.ts";
import { searchKindNames } from "./search-words.ts";

/** A run with its first matches, each with its neighbours. All texts of logs go in as text. */
export function searchResult(run: SearchRun, words: string): HTMLElement {
  const { agent, instanceId, matches, count } = run;
  const result = create(
    "article",
    "panel result",
    head(run),
    ...matches.map((match) => matchView(match, run)),
  );
  result.setAttribute("aria-label", instanceId ?? agent);
  const rest = count - matches.length;
  if (rest > 0) {
    const text = `${counted(rest, "more line")} in its log`;
    // The log's own filter takes a text as it is, which one word is.
    const isWord = /^[^\s"*]+$/.test(words);
    result.append(createLink(logAddress(agent, instanceId, isWord ? words : null), "rest", text));
  }
  return result;
}

function head({ agent, instanceId, at, outcome, usd }: SearchRun): HTMLElement {
  const isAgent = agent !== "scheduler";
  const run =
    instanceId === null
      ? create("span", "", "lines of no run")
      : createLink(runAddress(agent, instanceId), "run-link", instanceId);
  const ofAgent = createLink(isAgent ? agentAddress(agent) : logAddress(agent), "of-agent", agent);
  const time = create("time", "muted", exactTime(Date.parse(at)));
  time.dateTime = at;
  return create(
    "div",
    "result-head",
    create("h2", "", run),
    ofAgent,
    ...(instanceId === null ? [] : [outcomePill(outcome)]),
    ...(usd === null ? [] : [create("span", "muted", costText(usd))]),
    time,
  );
}

function outcomePill(outcome: string | null): HTMLElement {
  if (outcome === null) return create("span", "pill running", "running");
  return create("span", `outcome ${outcome}`, outcomeText(outcome));
}

function matchView(
  { position, at, kind, isError, before, text, ranges, after }: SearchMatch,
  { agent, instanceId }: SearchRun,
): HTMLElement {
  const link = createLink(
    lineAddress(agent, position, instanceId),
    "match-link",
    exactTime(Date.parse(at)),
  );
  setAttributes(link, { title: "Shows this line in its log" });
  const label = isError ? "error" : searchKindNames[kind];
  const lines = create(
    "pre",
    "match-lines",
    ...before.map((line) => create("span", "near", `${plainText(line)}\n`)),
    create("span", "found", ...highlighted(text, ranges), "\n"),
    ...after.map((line) => create("span", "near", `${plainText(line)}\n`)),
  );
  const about = create("div", "match-about", link, " ", create("span", "muted", label));
  return create("div", isError ? "match failing" : "match", about, lines);
}

/** The text with what was found marked. */
function highlighted(
  text: string,
  ranges: SearchMatch["ranges"],
): readonly (HTMLElement | string)[] {
  const parts: (HTMLElement | string)[] = [];
  let end = 0;
  for (const [from, to] of ranges) {
    if (from < end || to <= from) continue;
    parts.push(
      plainText(text.slice(end, from)),
      create("mark", "", plainText(text.slice(from, to))),
    );
    end = to;
  }
  return [...parts, plainText(text.slice(end))];
}
