import { render } from "preact";
import type { AgentAnswer, AgentFact } from "../../../contracts/agent-detail.ts";
import { getJson } from "./api.ts";
import { byId, create, setAttribute, setText, showText } from "./dom.ts";
import { dayTime, ownTimeZone } from "./format.ts";
import { markdownView } from "./markdown-view.ts";
import { soonOnce } from "./soon-once.ts";
import { eachSecond, Time } from "./time.tsx";

/** Fills the panels that an agent's files decide: config, next ticks, instructions. Returns how to read them again. */
export function wireAgentDetail(name: string): () => void {
  let shownInstructions: string | null | undefined;
  let nextTick = Infinity;

  const show = (answer: AgentAnswer): void => {
    const { config, nextTicks, facts } = answer;
    setText(byId("schedule-text"), whenText(answer));
    render(nextTicks.map(tickItem), byId("ticks"));
    showZone(nextTicks, config?.timezone);
    nextTick = Date.parse(nextTicks[0] ?? "") || Infinity;
    render(config === null ? noConfig : facts.map(factItem), byId("config"));
    const instructions = config?.instructions ?? null;
    // What did not change is left alone: a selection in it stays.
    if (instructions === shownInstructions) return;
    shownInstructions = instructions;
    showInstructions(instructions);
  };
  const read = soonOnce(async () => {
    const fetched = await getJson<AgentAnswer>(`/dashboard/api/agents/${encodeURIComponent(name)}`);
    if (fetched.ok) show(fetched.value);
  });
  eachSecond((now) => {
    if (now <= nextTick) return;
    // Its first tick is past: the list moves on, also while the agent is disabled and emits nothing.
    nextTick = Infinity;
    read();
  });
  const asWritten = byId("as-written");
  asWritten.addEventListener("click", () => {
    const isRaw = asWritten.getAttribute("aria-pressed") !== "true";
    setAttribute(asWritten, "aria-pressed", String(isRaw));
    byId("instructions").hidden = isRaw;
    byId("instructions-raw").hidden = !isRaw;
  });
  return read;
}

/** Shows why ticks of the list start no run. */
export function showTicksNote(isPaused: boolean, isEnabled: boolean): void {
  const paused = isPaused ? "The scheduler is paused: ticks that come are skipped." : "";
  const note = isEnabled ? paused : "The agent is disabled: nothing starts it.";
  showText("ticks-note", note);
  byId("ticks").classList.toggle("held", note !== "");
}

function whenText({ config, scheduleText }: AgentAnswer): string {
  if (config === null) return "Nothing is due until it has a valid config.";
  const schedule = scheduleText ?? config.schedule;
  const sources = [...new Set(config.webhooks.map(({ source }) => source))];
  const parts = [
    ...(schedule === null ? [] : [`${schedule} (${config.timezone})`]),
    ...(sources.length === 0 ? [] : [`On webhooks of ${sources.join(", ")}`]),
  ];
  return parts.length === 0 ? "Nothing starts it but a call or a hand." : `${parts.join(". ")}.`;
}

function tickItem(tick: string) {
  return (
    <li key={tick}>
      <Time side="future" at={tick} />
      <span class="muted">{dayTime(Date.parse(tick))}</span>
    </li>
  );
}

/** A schedule has its own time zone; the list is in the reader's, which is shown when they differ. */
function showZone(ticks: readonly string[], timeZone: string | undefined): void {
  const differs = ticks
    .map((tick) => Date.parse(tick))
    .some((at) => dayTime(at) !== dayTime(at, timeZone));
  showText("ticks-zone", differs ? `Listed in your own time zone, ${ownTimeZone()}.` : null);
}

const noConfig = <dd class="none muted">There is no valid one yet.</dd>;

function factItem({ label, values }: AgentFact) {
  return [<dt>{label}</dt>, ...values.map((value) => <dd>{value}</dd>)];
}

function showInstructions(text: string | null): void {
  const note = "They are shown when the agent has a valid config.";
  const content = text === null ? [create("p", "muted", note)] : markdownView(text);
  byId("instructions").replaceChildren(...content);
  setText(byId("instructions-raw"), text ?? "");
  byId("as-written").hidden = text === null;
}
