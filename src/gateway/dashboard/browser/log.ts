import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { counted } from "../../../contracts/format.ts";
import { byId, remember, remembered, setAttribute, setText } from "./dom.ts";
import { createFollow } from "./follow.ts";
import { openLive } from "./live.ts";
import { wireCopy } from "./log-copy.ts";
import { wireRunChoice } from "./log-runs.ts";
import { createLogView } from "./log-view.ts";
import { showConnection } from "./site.ts";
import { watchScheduler } from "./tab.ts";

/** Lines that wait for a frame; a hidden page has none. */
const maxWaiting = 5_000;
const firstLines = 100;

const box = byId("log");
const agent = box.dataset.agent ?? "";
const query = new URLSearchParams(location.search);
const instance = query.get("instance") ?? "";
const lines = Math.min(Number(query.get("lines")) || firstLines, maxWaiting);
const logView = createLogView(box, (id) => addressWith({ instance: id }));
const runChoice = wireRunChoice(agent, instance, (id) => addressWith({ instance: id }));
const waiting: LogEntry[] = [];
let missed = 0;
/** The text while there is no line. */
let emptyText =
  instance === ""
    ? byId("log-empty").textContent.trim()
    : "No lines of this run: it has logged nothing yet, or its log is no longer kept.";

const follow = createFollow(box, () => {
  if (follow.isOn()) missed = 0;
  showFollow();
});

function addressWith(change: Readonly<Record<string, string>>): string {
  const given = Object.entries({ instance, ...change }).filter(([, value]) => value !== "");
  const parameters = new URLSearchParams(given);
  return `${location.pathname}?${parameters.toString()}`;
}

function showFollow(): void {
  setAttribute(byId("follow"), "aria-pressed", String(follow.isOn()));
  setText(byId("follow"), follow.isOn() ? "Following" : "Follow");
  byId("jump").hidden = follow.isOn();
  setText(byId("jump"), missed === 0 ? "Jump to the newest" : `${counted(missed, "new line")} ↓`);
}

/** Lines come faster than frames: each frame shows what came since the last one. */
function addLine(entry: LogEntry): void {
  waiting.push(entry);
  if (waiting.length === 1) requestAnimationFrame(flush);
  if (waiting.length > maxWaiting) waiting.shift();
  if (entry.kind === "run") runChoice.read();
}

function flush(): void {
  const fresh = waiting.splice(0);
  if (fresh.length === 0) return;
  // As many as were asked for: there may be more before them.
  if (logView.count() === 0 && fresh.length >= lines && lines < maxWaiting) showEarlier();
  logView.add(fresh);
  showCounts();
  follow.contentChanged();
  if (follow.isOn()) return;
  missed += fresh.length;
  showFollow();
}

function showEarlier(): void {
  byId("earlier").hidden = false;
  byId("earlier", HTMLAnchorElement).href = addressWith({
    lines: String(Math.min(lines * 10, maxWaiting)),
  });
}

function showCounts(): void {
  const [count, hidden] = [logView.count(), logView.hiddenCount()];
  setText(byId("hidden-count"), hidden === 0 ? "" : `${counted(hidden, "line")} hidden`);
  byId("log-empty").hidden = hidden < count;
  setText(byId("log-empty"), count === 0 ? emptyText : "No line meets the filter.");
}

function applyFilter(): void {
  logView.filter(
    Number(byId("level", HTMLSelectElement).value),
    byId("text-filter", HTMLInputElement).value,
  );
  showCounts();
  follow.contentChanged();
}

/** A button that is on or off; what it is stays with the reader. */
function wireToggle(id: string, isOnAtFirst: boolean, apply: (isOn: boolean) => void): void {
  const button = byId(id);
  const show = (isOn: boolean): void => {
    setAttribute(button, "aria-pressed", String(isOn));
    apply(isOn);
    follow.contentChanged();
  };
  button.addEventListener("click", () => {
    const isOn = button.getAttribute("aria-pressed") !== "true";
    remember(`log-${id}`, String(isOn));
    show(isOn);
  });
  show((remembered(`log-${id}`) ?? String(isOnAtFirst)) === "true");
}

function streamUrl(lastId: string): string {
  const parameters = new URLSearchParams({ lines: String(lines) });
  if (instance !== "") parameters.set("instance", instance);
  if (lastId !== "") parameters.set("after", lastId);
  return `/dashboard/api/logs/${encodeURIComponent(agent)}/stream?${parameters.toString()}`;
}

wireCopy(box);
wireToggle("wrap", true, (isOn) => box.classList.toggle("nowrap", !isOn));
wireToggle("raw", false, (isOn) => logView.setRaw(isOn));
if (instance !== "")
  byId("download", HTMLAnchorElement).href += `?instance=${encodeURIComponent(instance)}`;
addEventListener("resize", () => follow.contentChanged());
byId("level").addEventListener("change", applyFilter);
byId("text-filter").addEventListener("input", applyFilter);
byId("follow").addEventListener("click", () => follow.set(!follow.isOn()));
byId("jump").addEventListener("click", () => follow.set(true));
byId("clear").addEventListener("click", () => {
  waiting.splice(0);
  missed = 0;
  logView.clear();
  emptyText = "Cleared. New lines appear here; the log file keeps the old ones.";
  showCounts();
  follow.set(true);
});
// A browser fills the fields in again when it comes back to a page.
applyFilter();
runChoice.read();
watchScheduler(false);

openLive({
  url: streamUrl,
  on: { log: (data) => addLine(JSON.parse(data) as LogEntry) },
  onState: showConnection,
});
