import type { HistoryPage } from "../../../foundation/contracts/history.ts";
import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import { outcomeText } from "../../../foundation/contracts/format.ts";
import { agentAddress, runAddress, searchAddress } from "./addresses.ts";
import { fetchJson } from "./api.ts";

/** Where one can jump to. */
export interface Place {
  readonly kind: "page" | "agent" | "run" | "search";
  readonly name: string;
  readonly address: string;
  /** Beside the name. */
  readonly note: string;
}

const shownPlaces = 12;
const recentRuns = 100;
/** An instance is called as its agent, and eight characters behind it. */
const instanceForm = /^(.+)-[a-z0-9]{8}$/;

/** All agents, and the latest runs. What can't be read is left out. */
export async function readPlaces(): Promise<readonly Place[]> {
  const [status, history] = await Promise.all([
    fetchJson<StatusSnapshot>("/control/status"),
    fetchJson<HistoryPage>(`/api/stats/triggers?limit=${recentRuns}`),
  ]);
  const agents = (status.ok ? status.value.agents : []).map(({ name, state }): Place => {
    return { kind: "agent", name, address: agentAddress(name), note: state };
  });
  const runs = (history.ok ? history.value.triggers : []).flatMap(
    ({ agent, instanceId, outcome }): Place[] => {
      if (agent === null || instanceId === null) return [];
      const note = outcome === null ? "running" : outcomeText(outcome);
      return [{ kind: "run", name: instanceId, address: runAddress(agent, instanceId), note }];
    },
  );
  return [...agents, ...runs];
}

/** The places whose names have the words; those that begin with them first. */
export function placesFor(text: string, places: readonly Place[]): readonly Place[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return places.filter(({ kind }) => kind !== "run").slice(0, shownPlaces);
  const words = wanted.split(/\s+/);
  const found = places.filter(({ name }) =>
    words.every((word) => name.toLowerCase().includes(word)),
  );
  const first = found.filter(({ name }) => name.toLowerCase().startsWith(wanted));
  const others = found.filter((place) => !first.includes(place));
  return [
    ...[...first, ...others].slice(0, shownPlaces),
    ...olderRun(text.trim(), found),
    {
      kind: "search",
      name: text.trim(),
      address: searchAddress(text.trim()),
      note: "in all logs",
    },
  ];
}

/** A run that is not among the latest, by its whole id. */
function olderRun(id: string, found: readonly Place[]): readonly Place[] {
  const agent = instanceForm.exec(id)?.[1];
  if (agent === undefined || found.some(({ name }) => name === id)) return [];
  return [{ kind: "run", name: id, address: runAddress(agent, id), note: "" }];
}
