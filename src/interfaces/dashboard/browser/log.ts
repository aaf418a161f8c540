import { onPress } from "./actions.ts";
import { lineAddress, logDownloadAddress } from "./addresses.ts";
import { byId, setText, remember, remembered, setAttribute } from "./dom.ts";
import { ownTimeZone } from "./format.ts";
import { addressOfChoice, choiceOfAddress, requestOfChoice } from "./log-choice.ts";
import type { LogChoice } from "./log-choice.ts";
import { wireCopy } from "./log-copy.ts";
import { createLogFollow } from "./log-follow.ts";
import { wireLogHead } from "./log-head.ts";
import { createLogLoader } from "./log-loader.ts";
import { showEmpty, showOlderEdge } from "./log-notes.ts";
import { wireRunChoice } from "./log-runs.ts";
import { createLogView } from "./log-view.ts";
import type { PlacedEntry } from "./log-view.ts";
import { showConnection } from "./site.ts";
import { watchScheduler } from "./tab.ts";

/** A pause in the typing of this length asks for the lines. */
const pauseMs = 250;

/** Fills the fields of the filter with what is chosen, and follows them. */
function wireFilter(
  { q, level }: LogChoice,
  choose: (change: Pick<LogChoice, "q" | "level">) => void,
): void {
  const text = byId("text-filter", HTMLInputElement);
  const levels = byId("level", HTMLSelectElement);
  text.value = q;
  levels.value = level;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const follow = (): void => {
    clearTimeout(timer);
    choose({ q: text.value.trim(), level: levels.value });
  };
  levels.addEventListener("change", follow);
  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(follow, pauseMs);
  });
}

/** Lines that wait for a frame; a hidden page has none. */
const maxWaiting = 5_000;
const retryMs = 3_000;

const box = byId("log");
const lines = byId("log-lines");
const agent = box.dataset.agent ?? "";
let choice = choiceOfAddress();
const { instance } = choice;
const linkToRun = (id: string): string => addressOfChoice({ ...choice, instance: id, at: "" });
const logView = createLogView(lines, {
  run: linkToRun,
  line: (position) => lineAddress(agent, position, instance === "" ? null : instance),
});
const runChoice = wireRunChoice(agent, instance, linkToRun);
const waiting: PlacedEntry[] = [];
const loader = createLogLoader(agent, { line: addLine, agent: wireLogHead(agent) });
let isReading = true;
let isCleared = false;

const follow = createLogFollow(
  box,
  () => !loader.hasLater(),
  () => choose({}),
);

/** Lines come faster than frames: each frame shows what came since the last one. */
function addLine(line: PlacedEntry): void {
  waiting.push(line);
  if (waiting.length === 1) requestAnimationFrame(flush);
  if (waiting.length > maxWaiting) waiting.shift();
  if (line.entry.kind === "run") runChoice.read();
}

function flush(): void {
  const fresh = waiting.splice(0);
  if (fresh.length === 0 || loader.hasLater()) return;
  showBelow(fresh);
  follow.added(fresh.length);
}

function showBelow(added: readonly PlacedEntry[]): void {
  const dropped = logView.add(added);
  if (dropped !== null) loader.dropBefore(dropped);
  showNotes();
}

/** What stands around the lines, and in their place. */
function showNotes(): void {
  const state = { choice, isReading, isCleared, count: logView.count(), loader };
  showOlderEdge(state);
  showEmpty(state);
  byId("newer-edge").hidden = !loader.hasLater();
}

/** Shows the part of the log that is chosen. */
async function show(): Promise<void> {
  const asked = choice;
  waiting.splice(0);
  isReading = true;
  isCleared = false;
  logView.clear();
  logView.reveal(choice.q);
  showNotes();
  const loaded = await loader.load(asked);
  if (asked !== choice) return;
  if (loaded === null) {
    showConnection("lost");
    setTimeout(() => asked === choice && void show(), retryMs);
    return;
  }
  isReading = false;
  byId("line-gone").hidden = !loaded.isGone;
  showBelow(loaded.lines);
  const marked = logView.find(choice.at);
  marked?.classList.add("marked");
  marked?.setAttribute("aria-current", "true");
  follow.set(marked === null);
  marked?.scrollIntoView({ block: "center" });
  follow.contentChanged();
}

function choose(change: Partial<LogChoice>): void {
  choice = Object.assign({}, choice, { at: "" }, change);
  history.replaceState(null, "", addressOfChoice(choice));
  showDownload();
  void show();
}

async function showEarlier(): Promise<void> {
  const earlier = await loader.earlier();
  follow.set(false);
  // The line that was the first one stays where it is on the screen.
  const [first] = lines.getElementsByClassName("line");
  const top = first?.getBoundingClientRect().top ?? 0;
  const dropped = logView.prepend(earlier);
  if (dropped !== null) loader.dropAfter(dropped);
  showNotes();
  if (first !== undefined) box.scrollTop += first.getBoundingClientRect().top - top;
  follow.contentChanged();
}

async function showLater(): Promise<void> {
  const later = await loader.later();
  follow.set(false);
  showBelow(later);
  follow.contentChanged();
}

function clear(): void {
  waiting.splice(0);
  isCleared = true;
  logView.clear();
  showNotes();
  follow.set(true);
}

function showDownload(): void {
  const address = logDownloadAddress(agent, requestOfChoice(choice));
  byId("download", HTMLAnchorElement).href = address;
}

wireCopy(lines);
wireToggle("wrap", true, (isOn) => {
  box.classList.toggle("nowrap", !isOn);
  follow.contentChanged();
});
wireToggle("raw", false, (isOn) => {
  logView.setRaw(isOn);
  follow.contentChanged();
});
wireFilter(choice, choose);
setText(byId("time-zone"), `Times: ${ownTimeZone()}`);
onPress(byId("earlier"), showEarlier);
onPress(byId("later"), showLater);
byId("clear").addEventListener("click", clear);
runChoice.read();
watchScheduler(false);
showDownload();
void show();

/** A button that is on or off; what it is stays with the reader. */
function wireToggle(id: string, isOnAtFirst: boolean, apply: (isOn: boolean) => void): void {
  const button = byId(id);
  const show = (isOn: boolean): void => {
    setAttribute(button, "aria-pressed", String(isOn));
    apply(isOn);
  };
  button.addEventListener("click", () => {
    const isOn = button.getAttribute("aria-pressed") !== "true";
    remember(`log-${id}`, String(isOn));
    show(isOn);
  });
  show((remembered(`log-${id}`) ?? String(isOnAtFirst)) === "true");
}
