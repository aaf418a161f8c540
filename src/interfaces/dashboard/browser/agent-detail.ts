import type { AgentAnswer, AgentFact } from "../../../foundation/contracts/agent-detail.ts";
import { fetchJson } from "./api.ts";
import { byId, create, setAttribute, setText, showText } from "./dom.ts";
import { dayTime, ownTimeZone } from "./format.ts";
import { markdownView } from "./markdown-view.ts";
import { soonOnce } from "./soon-once.ts";
import { createTime } from "./time-cell.ts";
import type { TimeCell } from "./time-cell.ts";

/** The parts of an agent's page that its files decide: config, next ticks, instructions. */
export interface AgentDetailView {
  /** Reads them again, soon. */
  read(): void;
  setPaused(isPaused: boolean): void;
  setEnabled(isEnabled: boolean): void;
  tick(now: number): void;
}

/** Fills the page's panels. */
export function createAgentDetail(name: string): AgentDetailView {
  let times: readonly TimeCell[] = [];
  let shown = "";
  let shownInstructions: string | null = null;
  let nextTick = Infinity;
  let isPaused = false;
  let isEnabled = true;

  const show = (answer: AgentAnswer): void => {
    const { config, nextTicks } = answer;
    // What did not change is left alone: a selection in it stays.
    if (JSON.stringify(answer) === shown) return;
    shown = JSON.stringify(answer);
    setText(byId("schedule-text"), whenText(answer));
    times = showTicks(nextTicks);
    showZone(nextTicks, config?.timezone);
    nextTick = Date.parse(nextTicks[0] ?? "") || Infinity;
    byId("config").replaceChildren(...answer.facts.flatMap(factElements));
    byId("as-written").hidden = config === null;
    const instructions = config?.instructions ?? null;
    if (config !== null && instructions === shownInstructions) return;
    shownInstructions = instructions;
    if (config === null) return showNoConfig();
    byId("instructions").replaceChildren(...markdownView(config.instructions));
    setText(byId("instructions-raw"), config.instructions);
  };
  const showNote = (): void => {
    const paused = isPaused ? "The scheduler is paused: ticks that come are skipped." : "";
    const note = isEnabled ? paused : "The agent is disabled: nothing starts it.";
    showText("ticks-note", note);
    byId("ticks").classList.toggle("held", note !== "");
  };
  const read = soonOnce(async () => {
    const fetched = await fetchJson<AgentAnswer>(
      `/dashboard/api/agents/${encodeURIComponent(name)}`,
    );
    if (fetched.ok) show(fetched.value);
  });

  const asWritten = byId("as-written");
  asWritten.addEventListener("click", () => {
    const isRaw = asWritten.getAttribute("aria-pressed") !== "true";
    setAttribute(asWritten, "aria-pressed", String(isRaw));
    byId("instructions").hidden = isRaw;
    byId("instructions-raw").hidden = !isRaw;
  });

  return {
    read,
    setPaused: (paused) => {
      isPaused = paused;
      showNote();
    },
    setEnabled: (enabled) => {
      isEnabled = enabled;
      showNote();
    },
    tick: (now) => {
      for (const time of times) time.tick(now);
      if (now <= nextTick) return;
      // Its first tick is past: the list moves on, also while the agent is disabled and emits nothing.
      nextTick = Infinity;
      read();
    },
  };
}

function whenText({ config, scheduleText }: AgentAnswer): string {
  if (config === null) return "No runs scheduled: the config is invalid.";
  const schedule = scheduleText ?? config.schedule;
  const sources = [...new Set(config.webhooks.map(({ source }) => source))];
  const parts = [
    ...(schedule === null ? [] : [`${schedule} (${config.timezone})`]),
    ...(sources.length === 0 ? [] : [`On webhooks of ${sources.join(", ")}`]),
  ];
  return parts.length === 0
    ? "Runs only when called by another agent or started manually."
    : `${parts.join(". ")}.`;
}

function showNoConfig(): void {
  byId("config").append(
    create("dt", "", "Config"),
    create("dd", "none muted", "No valid configuration yet."),
  );
  const note = create("p", "muted", "They are shown when the agent has a valid config.");
  byId("instructions").replaceChildren(note);
}

function showTicks(ticks: readonly string[]): readonly TimeCell[] {
  const cells = ticks.map((tick) => {
    const cell = createTime("future");
    cell.show(tick, "");
    return { cell, tick };
  });
  const items = cells.map(({ cell, tick }) =>
    create("li", "", cell.element, create("span", "muted", dayTime(Date.parse(tick)))),
  );
  byId("ticks").replaceChildren(...items);
  return cells.map(({ cell }) => cell);
}

/** A schedule has its own time zone; the list is in the reader's, which is shown when they differ. */
function showZone(ticks: readonly string[], timeZone: string | undefined): void {
  const differs = ticks
    .map((tick) => Date.parse(tick))
    .some((at) => dayTime(at) !== dayTime(at, timeZone));
  showText("ticks-zone", differs ? `Listed in your own time zone, ${ownTimeZone()}.` : null);
}

function factElements({ label, values }: AgentFact): readonly HTMLElement[] {
  return [create("dt", "", label), ...values.map((value) => create("dd", "", value))];
}
