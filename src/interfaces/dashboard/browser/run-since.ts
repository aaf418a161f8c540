import { differenceLine } from "../../../foundation/contracts/difference-line.ts";
import type { RunDifference, RunView } from "../../../foundation/contracts/run-view.ts";
import { changesAddress } from "./addresses.ts";
import { fetchJson } from "./api.ts";
import { byId, create, createLink } from "./dom.ts";
import { runLink } from "./run-parts.ts";

/** The run whose difference is read or shown: what two runs ran doesn't change. */
let readFor = "";

/** Shows whether a run ran something else than its agent's last run before it that succeeded, and what. */
export function showSince({ agent, instanceId, lastSuccess, outcome }: RunView): void {
  byId("since").hidden = lastSuccess === null;
  if (lastSuccess === null) return;
  const { instanceId: earlier, changed } = lastSuccess;
  const words =
    changed === null
      ? [", but what one of them ran is not stored."]
      : changed
        ? [". Its config or instructions changed: ", changesLink(agent, instanceId, earlier), "."]
        : [". It ran the same."];
  byId("since-text").replaceChildren("That was ", runLink(agent, earlier), ...words);
  byId("since-fold").hidden = changed !== true;
  if (changed !== true || readFor === earlier) return;
  readFor = earlier;
  wireFold(instanceId, earlier, outcome !== null && outcome !== "succeeded");
}

function changesLink(agent: string, instanceId: string, earlier: string): HTMLElement {
  return createLink(changesAddress(agent, instanceId, earlier), "", "as a page");
}

/** What changed is read when it is first unfolded; of a run that went wrong it is the first question. */
function wireFold(instanceId: string, earlier: string, isOpen: boolean): void {
  const fold = byId("since-fold", HTMLDetailsElement);
  const read = async (): Promise<void> => {
    const path = `/api/runs/${encodeURIComponent(instanceId)}/diff?to=${encodeURIComponent(earlier)}`;
    const fetched = await fetchJson<RunDifference>(path);
    const lines = fetched.ok ? linesOf(fetched.value.text) : [fetched.detail];
    byId("since-changes").replaceChildren(...lines);
  };
  fold.addEventListener("toggle", () => void (fold.open && read()), { once: true });
  fold.open = isOpen;
}

function linesOf(text: string): readonly HTMLElement[] {
  const lines = text.replace(/\n$/, "").split("\n");
  return lines.map((line) => create("span", differenceLine(line), line));
}
