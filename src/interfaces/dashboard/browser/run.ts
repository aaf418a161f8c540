import { durationText, outcomeText } from "../../../foundation/contracts/format.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import type { RunView } from "../../../foundation/contracts/run-view.ts";
import { post } from "./actions.ts";
import { firstSeenAddress } from "./addresses.ts";
import { fetchJson } from "./api.ts";
import { askFirst } from "./ask-first.ts";
import { byId, setAttribute, setText, showText } from "./dom.ts";
import { openRunLog } from "./run-log.ts";
import { wireRunAgain } from "./run-again.ts";
import { showRunPanels } from "./run-panels.ts";
import { eachSecond, openStatusStream } from "./site.ts";
import { soonOnce } from "./soon-once.ts";
import { runningSince, stateOf, whyText } from "./trigger-words.ts";

const { agent = "", instance = "" } = byId("run").dataset;
const log = openRunLog(agent, instance);
let run: RunView | null = null;

const read = soonOnce(async () => {
  const fetched = await fetchJson<RunView>(`/api/runs/${encodeURIComponent(instance)}`);
  if (!fetched.ok) {
    if (fetched.status === 404) showText("gone", "This run is no longer in the history.");
    return;
  }
  run = fetched.value;
  showHead(run);
  showRunPanels(run);
  if (run.outcome !== null) log.end();
});

const again = wireRunAgain(agent);
const kill = byId("kill");
const kills = askFirst(kill, () => post(`/control/kill/${encodeURIComponent(instance)}`));
kills.show({ text: "Kill", label: `Kill the run ${instance}`, question: "Really kill it?" });

/** Looks of the states that are no error; a kill is what a person wanted. */
const calmStates: Readonly<Partial<Record<string, string>>> = {
  running: "running",
  succeeded: "good",
  queued: "held",
  interrupted: "held",
  killed: "off",
};

function showHead(now: RunView): void {
  const state = stateOf(now);
  setText(byId("state"), outcomeText(state));
  const calm = calmStates[state];
  setAttribute(byId("state"), "class", `pill ${calm ?? "error"}`);
  setAttribute(byId("reason"), "class", `notice ${calm === undefined ? "error" : "warning"}`);
  showText("reason", plainText(whyText(now)));
  showFirstSeen(calm === undefined ? now.reason : null);
  kill.hidden = runningSince(now) === null;
  again.show(now);
  showStanding(now, Date.now());
}

/** Links an error to where the logs have it first; null for none. */
function showFirstSeen(error: string | null): void {
  const place = byId("first-seen");
  place.hidden = error === null;
  const link = place.querySelector("a");
  if (link !== null) setAttribute(link, "href", error === null ? null : firstSeenAddress(error));
}

function showStanding({ durationMs, ...entry }: RunView, now: number): void {
  const since = runningSince(entry);
  const ms = since === null ? durationMs : Math.max(0, now - Date.parse(since));
  setText(byId("standing"), ms === null ? "" : durationText(ms));
}

/** Whether anything about a run can still change. */
function isOpen({ outcome, calls }: RunView): boolean {
  return outcome === null || calls.made.some((call) => call.outcome === null);
}

eachSecond((now) => {
  if (run !== null) showStanding(run, now);
});

openStatusStream(instance, {
  snapshot: ({ agents }) => {
    again.offer(agents.find(({ name }) => name === agent) ?? null);
    read();
  },
  update: ({ agents, removed }) => {
    if (removed?.includes(agent) === true) again.offer(null);
    const own = agents?.find(({ name }) => name === agent);
    if (own === undefined) return;
    again.offer(own);
    if (run === null || isOpen(run)) read();
  },
});
