import type { Outcome } from "../../../../streams/vocabulary.ts";
import type { Alert, AlertPhase, AlertTopic } from "../../../foundation/contracts/alert.ts";
import { lengthText } from "./length-text.ts";

type Title = (alert: Alert) => string;

/** What is wrong, in one line that needs no other. */
export function alertTitle(alert: Alert): string {
  return titles[alert.topic][alert.phase](alert);
}

const runTitles: Partial<Record<Outcome, string>> = {
  timed_out: "timed out",
  out_of_memory: "ran out of memory",
  lost: "lost its run",
  over_budget: "ran over its budget",
  rejected: "could not start",
};

/** The agent, or the project as a whole. */
const whose = ({ agent }: Alert): string => agent ?? "the project";
const lasted = ({ since, at }: Alert): string => lengthText(at - since);
const times = (count: number): string => (count === 1 ? "" : ` ${count} times`);
const spent: Title = ({ agent, count }) =>
  `${agent ?? "The project"} spent ${count} % of its budget`;
/** The first three: a phone shows the title alone. */
const ofAgents = ({ agents }: Alert): string => {
  if (agents.length === 0) return "";
  const names = agents.slice(0, 3).join(", ");
  return `: ${names}${agents.length > 3 ? " and others" : ""}`;
};
const always = (title: Title): Record<AlertPhase, Title> => ({
  opened: title,
  reminder: title,
  resolved: title,
});

const titles: Record<AlertTopic, Record<AlertPhase, Title>> = {
  runs: {
    opened: (alert) => `${whose(alert)} ${runTitles[alert.outcome ?? "failed"] ?? "failed"}`,
    reminder: (alert) => `${whose(alert)} still fails`,
    resolved: (alert) => `${whose(alert)} recovered`,
  },
  no_success: {
    opened: (alert) => `${whose(alert)} had no success for ${lasted(alert)}`,
    reminder: (alert) => `${whose(alert)} still has no success, for ${lasted(alert)}`,
    resolved: (alert) => `${whose(alert)} succeeded again`,
  },
  config: {
    opened: (alert) => `The config of ${whose(alert)} is invalid`,
    reminder: (alert) => `The config of ${whose(alert)} is still invalid`,
    resolved: (alert) => `The config of ${whose(alert)} is valid again`,
  },
  image: {
    opened: (alert) => `The image of ${whose(alert)} can't be built`,
    reminder: (alert) => `The image of ${whose(alert)} still can't be built`,
    resolved: (alert) => `The image of ${whose(alert)} is built again`,
  },
  credentials: {
    opened: (alert) => `${whose(alert)} lacks what its runs need`,
    reminder: (alert) => `${whose(alert)} still lacks what its runs need`,
    resolved: (alert) => `${whose(alert)} has what its runs need again`,
  },
  blocked: {
    opened: (alert) => `The machine can't start runs of ${whose(alert)}`,
    reminder: (alert) => `The machine still can't start runs of ${whose(alert)}`,
    resolved: (alert) => `The machine starts runs of ${whose(alert)} again`,
  },
  missed_ticks: always((alert) => `${whose(alert)} missed its schedule${times(alert.count)}`),
  dead_letters: always((alert) =>
    alert.count === 1
      ? `Work for ${whose(alert)} became a dead letter`
      : `${alert.count} items of work for ${whose(alert)} became dead letters`,
  ),
  budget: always(spent),
  scheduler_down: always((alert) =>
    alert.count === 1
      ? `The scheduler was down for ${lasted(alert)}`
      : `The scheduler was down${times(alert.count)}`,
  ),
  digest: {
    opened: (alert) => `${alert.count} alerts${ofAgents(alert)}`,
    reminder: (alert) => `${alert.count} alerts${ofAgents(alert)}`,
    resolved: (alert) => `${alert.count} alerts are resolved${ofAgents(alert)}`,
  },
  test: always(() => "Test alert"),
};
