import { outcomeText, toneOf } from "../../../../../streams/outcomes.ts";
import type { ComponentChild } from "preact";
import type { SearchKind } from "../../../../features/search/search-kinds.ts";
import type { SearchMatch, SearchRun } from "../../../../features/search/search-report.ts";
import { dollars } from "../../../../features/spend/spend-text.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import { agentAddress, lineAddress, logAddress } from "../../text/addresses.ts";
import { listTime } from "../../text/format.ts";
import { memo } from "../../kit/memo.ts";
import { RunLink } from "../../runs/run-parts.tsx";

/** The kinds of lines in words. */
export const searchKindNames: Readonly<Record<SearchKind, string>> = {
  error: "errors",
  said: "said by the model",
  prompt: "prompts",
  steer: "messages of people",
  tool: "tool calls",
  "tool-result": "tool results",
  run: "start and end of runs",
  hook: "hooks",
  network: "denied hosts",
  mcp: "MCP servers",
  fallback: "changes of model",
  process: "output of processes",
  scheduler: "scheduler",
};

interface ResultProps {
  readonly run: SearchRun;
  /** The words that were searched for. */
  readonly words: string;
}

/** A run with its first matches, each with its neighbours. */
export const SearchResult = memo(({ run, words }: ResultProps) => {
  const { agent, instanceId, matches, count } = run;
  const rest = count - matches.length;
  // The log's own filter is literal text, which a single word is.
  const isWord = /^[^\s"*]+$/.test(words);
  return (
    <article class="panel result" aria-label={instanceId ?? agent}>
      <Head {...run} />
      {matches.map((match) => (
        <Match
          match={match}
          address={lineAddress(agent, match.position, instanceId, { q: isWord ? words : null })}
          key={match.position}
        />
      ))}
      {rest > 0 && (
        <a class="rest" href={logAddress(agent, instanceId, isWord ? words : null)}>
          {counted(rest, "more line")} in its log
        </a>
      )}
    </article>
  );
});

function Head({ agent, instanceId, at, outcome, usd }: SearchRun) {
  const state = outcome ?? "running";
  return (
    <div class="result-head">
      <h2>
        {instanceId === null ? (
          <span>Scheduler log</span>
        ) : (
          <RunLink agent={agent} instanceId={instanceId} />
        )}
      </h2>
      <a href={agent === "scheduler" ? logAddress(agent) : agentAddress(agent)}>{agent}</a>
      {instanceId !== null && (
        <span class={outcome === null ? "pill running" : `outcome ${toneOf(outcome)}`}>
          {outcomeText(state)}
        </span>
      )}
      {usd !== null && <span class="muted">{dollars(usd)}</span>}
      <time class="muted" dateTime={at} title={at}>
        {listTime(at)}
      </time>
    </div>
  );
}

function Match({ match, address }: { readonly match: SearchMatch; readonly address: string }) {
  const { at, kind, isError, before, text, ranges, after } = match;
  return (
    <div class={isError ? "match failing" : "match"}>
      <div class="match-about">
        <a href={address} title="Shows this line in its log">
          {listTime(at)}
        </a>{" "}
        <span class="muted">{isError ? "error" : searchKindNames[kind]}</span>
      </div>
      <pre class="match-lines">
        <Near lines={before} />
        <span>{highlighted(text, ranges)}</span>
        {"\n"}
        <Near lines={after} />
      </pre>
    </div>
  );
}

function Near({ lines }: { readonly lines: readonly string[] }) {
  return (
    <>
      {lines.map((line, index) => (
        <span class="near" key={index}>
          {plainText(line)}
          {"\n"}
        </span>
      ))}
    </>
  );
}

/** The text with the matching parts marked. */
function highlighted(text: string, ranges: SearchMatch["ranges"]): readonly ComponentChild[] {
  const parts: ComponentChild[] = [];
  let end = 0;
  for (const [from, to] of ranges) {
    if (from < end || to <= from) continue;
    parts.push(plainText(text.slice(end, from)));
    parts.push(<mark key={from}>{plainText(text.slice(from, to))}</mark>);
    end = to;
  }
  return [...parts, plainText(text.slice(end))];
}
