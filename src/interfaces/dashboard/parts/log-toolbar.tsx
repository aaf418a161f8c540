import { outcomeText } from "../../../../streams/outcomes.ts";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { useIsLocal } from "../live/clock.ts";
import type { Side } from "../live/log-session.ts";
import { remember, remembered } from "../live/store.ts";
import { logDownloadAddress, withQuery } from "../text/addresses.ts";
import { exactTime, ownTimeZone } from "../text/format.ts";
import { hasMatches, type LogChoice } from "../text/list-view.ts";
import { Action } from "./action.tsx";
import { Select } from "./fields.tsx";

/** A switch, whose state the browser remembers. */
export function useSwitch(name: string, isOnAtFirst: boolean) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const stored = useIsLocal() ? remembered(name) : null;
  const isOn = chosen ?? (stored === null ? isOnAtFirst : stored === "true");
  const toggle = (): void => {
    remember(name, String(!isOn));
    setChosen(!isOn);
  };
  return { isOn, toggle };
}

type Switch = ReturnType<typeof useSwitch>;

interface ToolbarProps {
  readonly agent: string;
  readonly choice: LogChoice;
  /** The runs that can be chosen; null for a log without runs. */
  readonly runs: readonly HistoryEntry[] | null;
  readonly onChoose: (change: Partial<LogChoice>) => void;
  /** Leads to the next match on a side of the line that the address names. */
  readonly onMatch: (side: Side) => unknown;
  readonly onError: () => unknown;
  readonly wrap: Switch;
  readonly raw: Switch;
  readonly isFollowing: boolean;
  readonly onFollow: () => void;
  readonly onClear: () => void;
}

/** The filters and switches of a log. */
export function LogToolbar(props: ToolbarProps) {
  const { agent, choice, runs, onChoose, wrap, raw, isFollowing, onFollow, onClear } = props;
  const { instance, q, level } = choice;
  return (
    <div class="toolbar" role="toolbar" aria-label="Log">
      {runs !== null && <RunChoice choice={choice} runs={runs} />}
      <LogFilter choice={choice} onChoose={onChoose} />
      <Matches {...props} />
      <span class="muted" id="time-zone">
        Times: {ownTimeZone()}
      </span>
      <div class="end">
        <Toggle id="wrap" isOn={wrap.isOn} onToggle={wrap.toggle}>
          Wrap
        </Toggle>
        <Toggle id="raw" isOn={raw.isOn} onToggle={raw.toggle}>
          Raw
        </Toggle>
        <a
          class="button"
          id="download"
          download
          href={logDownloadAddress(agent, { instance, q, level })}
          title="The last 5,000 lines that match, as they were written, one JSON object each"
        >
          Download
        </a>
        <button class="button" type="button" id="clear" onClick={onClear}>
          Clear
        </button>
        <Toggle id="follow" isOn={isFollowing} onToggle={onFollow}>
          {isFollowing ? "Following" : "Follow"}
        </Toggle>
      </div>
    </div>
  );
}

/** Leads from match to match, each among all lines around it. */
function Matches({ choice, onChoose, onMatch, onError }: ToolbarProps) {
  const areShown = hasMatches(choice);
  return (
    <div class="matches" role="group" aria-label="Matches">
      {areShown && (
        <>
          <Action id="previous-match" class="button" act={() => onMatch("before")}>
            ↑ Previous match
          </Action>
          <Action id="next-match" class="button" act={() => onMatch("after")}>
            ↓ Next match
          </Action>
        </>
      )}
      {areShown && choice.at !== "" && (
        <Action id="only-matches" class="button" act={() => onChoose({})}>
          Matches only
        </Action>
      )}
      <Action id="to-error" class="button" act={onError}>
        {choice.instance === "" ? "Last error" : "First error"}
      </Action>
    </div>
  );
}

interface ToggleProps {
  readonly id: string;
  readonly isOn: boolean;
  readonly onToggle: () => void;
  readonly children: ComponentChildren;
}

function Toggle({ id, isOn, onToggle, children }: ToggleProps) {
  return (
    <button class="button" type="button" id={id} aria-pressed={isOn} onClick={onToggle}>
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
    const text = `${exactTime(Date.parse(startedAt ?? at))} · ${how}`;
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

function LogFilter({ choice, onChoose }: Pick<ToolbarProps, "choice" | "onChoose">) {
  const text = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (choice.q === "" && text.current !== null) text.current.value = "";
  }, [choice.q]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const follow = (level: string): void => {
    clearTimeout(timer.current);
    onChoose({ q: text.current?.value.trim() ?? "", level });
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
