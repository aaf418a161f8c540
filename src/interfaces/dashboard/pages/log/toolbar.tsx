import { outcomeText } from "../../../../../streams/outcomes.ts";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { HistoryEntry } from "../../../../foundation/contracts/history.ts";
import { useIsLocal } from "../../live/clock.ts";
import type { Side } from "../../log/log-session.ts";
import { remember, remembered } from "../../live/store.ts";
import { pathOf, withQuery } from "../../text/addresses.ts";
import { listTime, ownTimeZone } from "../../text/format.ts";
import { hasMatches, type LogChoice } from "../../kit/list-view.ts";
import { Action } from "../../kit/action.tsx";
import { Select } from "../../kit/fields.tsx";

/** A switch, whose state the browser remembers. */
export function useSwitch(name: string, isOnAtFirst: boolean): Switch {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const stored = useIsLocal() ? remembered(name) : null;
  const isOn = chosen ?? (stored === null ? isOnAtFirst : stored === "true");
  const toggle = (): void => {
    remember(name, String(!isOn));
    setChosen(!isOn);
  };
  return { isOn, toggle };
}

interface Switch {
  readonly isOn: boolean;
  readonly toggle: () => void;
}

interface ToolbarProps {
  readonly agent: string;
  readonly choice: LogChoice;
  /** The runs that can be chosen; null for a log without runs. */
  readonly runs: readonly HistoryEntry[] | null;
  readonly choose: (change: Partial<LogChoice>) => void;
  /** Leads to the next match on a side of the line that the address names. */
  readonly toMatch: (side: Side) => unknown;
  readonly toError: () => unknown;
  readonly wrap: Switch;
  readonly raw: Switch;
  readonly follow: Switch;
  readonly clear: () => void;
}

/** The filters and switches of a log. */
export function LogToolbar(props: ToolbarProps) {
  const { agent, choice, runs, wrap, raw, follow, clear } = props;
  const { instance, q, level } = choice;
  return (
    <div class="toolbar" role="toolbar" aria-label="Log">
      {runs !== null && <RunChoice choice={choice} runs={runs} />}
      <LogFilter {...props} />
      <Matches {...props} />
      <span class="muted" id="time-zone">
        Times: {ownTimeZone()}
      </span>
      <div class="end">
        <Toggle id="wrap" {...wrap}>
          Wrap lines
        </Toggle>
        <Toggle id="raw" {...raw}>
          Raw JSON
        </Toggle>
        <a
          class="button"
          id="download"
          download
          href={withQuery(pathOf`/dashboard/api/logs/${agent}/download`, { instance, q, level })}
          title="The last 5,000 lines that match, as they were written, one JSON object each"
        >
          Download
        </a>
        <button class="button" type="button" id="clear" onClick={clear}>
          Clear view
        </button>
        <Toggle id="follow" {...follow}>
          {follow.isOn ? "Following" : "Follow"}
        </Toggle>
      </div>
    </div>
  );
}

/** Leads from match to match, each among all lines around it. */
function Matches({ choice, choose, toMatch, toError }: ToolbarProps) {
  const step = (id: string, words: string, act: () => unknown) => (
    <Action id={id} class="button" act={act}>
      {words}
    </Action>
  );
  return (
    <div class="matches" role="group" aria-label="Matches">
      {hasMatches(choice) && (
        <>
          {step("previous-match", "↑ Previous match", () => toMatch("before"))}
          {step("next-match", "↓ Next match", () => toMatch("after"))}
          {choice.at !== "" && step("only-matches", "Matches only", () => choose({}))}
        </>
      )}
      {step("to-error", choice.instance === "" ? "Last error" : "First error", toError)}
    </div>
  );
}

interface ToggleProps extends Switch {
  readonly id: string;
  readonly children: ComponentChildren;
}

function Toggle({ id, isOn, toggle, children }: ToggleProps) {
  return (
    <button class="button" type="button" id={id} aria-pressed={isOn} onClick={toggle}>
      {children}
    </button>
  );
}

interface RunChoiceProps {
  readonly choice: LogChoice;
  readonly runs: readonly HistoryEntry[];
}

/** Leads to the log of one run, or of all. */
function RunChoice({ choice, runs }: RunChoiceProps) {
  const { instance } = choice;
  const listed = runs.flatMap(({ instanceId, at, startedAt, outcome }) => {
    const how = outcome === null ? "running" : outcomeText(outcome);
    const text = `${listTime(startedAt ?? at)} · ${how}`;
    return instanceId === null ? [] : [[instanceId, text] as const];
  });
  const words = Object.fromEntries(listed);
  const ids = instance === "" || instance in words ? [] : [instance];
  return (
    <Select
      id="run-choice"
      label="Runs"
      isBare
      any="All runs"
      values={[...ids, ...listed.map(([id]) => id)]}
      words={{ [instance]: instance, ...words }}
      value={instance}
      onChange={(id) =>
        location.assign(withQuery(location.pathname, { ...choice, instance: id, at: "" }))
      }
    />
  );
}

/** The lines are shown after a pause of this length in the typing. */
const pauseMs = 250;
const levels = { info: "Info and above", warn: "Warnings and errors", error: "Errors" };

function LogFilter({ choice, choose }: ToolbarProps) {
  const text = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (choice.q === "" && text.current !== null) text.current.value = "";
  }, [choice.q]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const follow = (level: string): void => {
    clearTimeout(timer.current);
    choose({ q: text.current?.value.trim() ?? "", level });
  };
  const followSoon = (): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => follow(choice.level), pauseMs);
  };
  return (
    <>
      <Select
        id="level"
        label="Level"
        isBare
        any="All levels"
        values={Object.keys(levels)}
        words={levels}
        value={choice.level}
        onChange={follow}
      />
      <input
        class="filter"
        type="search"
        id="text-filter"
        placeholder="Filter the whole log"
        aria-label="Show only lines with this text"
        maxLength={1000}
        autocomplete="off"
        defaultValue={choice.q}
        ref={text}
        onInput={followSoon}
      />
    </>
  );
}
