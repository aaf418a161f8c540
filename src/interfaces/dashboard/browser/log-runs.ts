import type { HistoryPage } from "../../../foundation/contracts/history.ts";
import { outcomeText } from "../../../foundation/contracts/format.ts";
import { fetchJson } from "./api.ts";
import { byId } from "./dom.ts";
import { exactTime } from "./format.ts";
import { soonOnce } from "./soon-once.ts";

const offeredRuns = 50;

/** Fills the choice of runs and follows it. `linkTo` is the address of one run's log, or with "" of all. */
export function wireRunChoice(
  agent: string,
  instance: string,
  linkTo: (instance: string) => string,
): { readonly read: () => void } {
  const choice = byId("run-choice", HTMLSelectElement);
  choice.addEventListener("change", () => location.assign(linkTo(choice.value)));
  const read = soonOnce(async () => {
    const query = new URLSearchParams({ agent, limit: String(offeredRuns) });
    const fetched = await fetchJson<HistoryPage>(`/api/stats/triggers?${query.toString()}`);
    if (!fetched.ok) return;
    const runs = fetched.value.triggers.flatMap(({ instanceId, at, startedAt, outcome }) => {
      if (instanceId === null) return [];
      const how = outcome === null ? "running" : outcomeText(outcome);
      return [[instanceId, `${exactTime(Date.parse(startedAt ?? at))} · ${how}`] as const];
    });
    const isListed = instance === "" || runs.some(([id]) => id === instance);
    choice.replaceChildren(
      new Option("All runs", ""),
      ...(isListed ? [] : [new Option(instance, instance)]),
      ...runs.map(([id, text]) => new Option(text, id)),
    );
    choice.value = instance;
  });
  return { read };
}
