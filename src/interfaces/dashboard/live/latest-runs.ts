import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { mostNames } from "../../../foundation/contracts/format.ts";
import type { LatestRuns } from "../../../foundation/contracts/history.ts";
import { fetchJson } from "./api.ts";
import { useStatus } from "./status.ts";
import { useLatest } from "./store.ts";
import { paced } from "./use-document.ts";

type Named = readonly { readonly name: string }[];

const pauseMs = 2_000;

/** The latest runs of the agents that are shown, by name. They are read again for agents whose status changed. */
export function useLatestRuns(first: LatestRuns | null, shown: Named) {
  const [runs, setRuns] = useState(() => byName(first));
  const changed = useRef(new Set<string>());
  const latest = useLatest(shown);
  const read = async (): Promise<void> => {
    const wanted = latest.current.filter(({ name }) => changed.current.has(name));
    const names = wanted.slice(0, mostNames).map(({ name }) => name);
    if (names.length === 0) return;
    // Before it is asked: a change meanwhile is one more reason to read.
    for (const name of names) changed.current.delete(name);
    const fetched = await fetchJson<LatestRuns>(`/api/stats/latest-runs?agents=${names.join(",")}`);
    if (!fetched.ok) return names.forEach((name) => changed.current.add(name));
    setRuns((now) => new Map([...now, ...byName(fetched.value)]));
    if (wanted.length > names.length) refresh();
  };
  const refresh = useMemo(() => paced(read, pauseMs), []);
  const note = (agents: Named): void => {
    for (const { name } of agents) changed.current.add(name);
    if (agents.length > 0) refresh();
  };
  useStatus({
    snapshot: ({ agents }) => note(agents),
    update: ({ agents = [] }) => note(agents),
  });
  useEffect(refresh, [shown.map(({ name }) => name).join()]);
  return runs;
}

function byName(document: LatestRuns | null) {
  return new Map(document?.agents.map(({ name, runs }) => [name, runs]));
}
