import {
  filterOf,
  isShown,
  queryOf,
  sortAgents,
} from "../../../../../src/interfaces/dashboard/pages/overview/agent-filter.ts";
import { anAgentStatus } from "../../../../helpers/agent-status.ts";

const now = Date.UTC(2026, 10, 22, 12);
const minutesAgo = (minutes: number): string => new Date(now - minutes * 60_000).toISOString();

const agents = [
  anAgentStatus("web-report", { triggers: ["schedule 15 * * * *"], tags: ["web", "reports"] }),
  anAgentStatus("data-sync", {
    triggers: ["webhook github"],
    state: "error",
    lastRunAt: minutesAgo(9),
  }),
  anAgentStatus("api-review", { triggers: ["webhook github"], enabled: false, lastDurationMs: 9 }),
  anAgentStatus("api-triage", { state: "running", running: 1, lastRunAt: minutesAgo(2) }),
];

/** In the usual order, the most urgent first. */
function shown(query: string): string[] {
  const filter = filterOf(new URLSearchParams(query));
  return sortAgents(agents.filter(isShown(filter)), filter.sort, now).map(({ name }) => name);
}

test("the agent filter matches parts of names, and whole words of states and triggers", () => {
  expect(shown("q=web")).toEqual(["web-report"]);
  expect(shown("q=WEBHOOK")).toEqual(["data-sync", "api-review"]);
  expect(shown("q=api running")).toEqual(["api-triage"]);
  expect(shown("q=report")).toEqual(["web-report"]);
  expect(shown("q=nothing")).toEqual([]);
});

test("an agent must match state, tag and words of a filter", () => {
  expect(shown("state=error")).toEqual(["data-sync"]);
  expect(shown("state=disabled")).toEqual(["api-review"]);
  expect(shown("tag=web")).toEqual(["web-report"]);
  expect(shown("tag=web&state=error")).toEqual([]);
  expect(shown("state=nonsense")).toHaveLength(4);
});

test("the address of the overview holds filter and order, without default values", () => {
  for (const query of ["", "q=web+hook&state=error&tag=a%26b&sort=-cost", "sort=name"]) {
    expect(queryOf(filterOf(new URLSearchParams(query)))).toBe(query);
  }
  expect(queryOf(filterOf(new URLSearchParams("q=+&state=nonsense&sort=nonsense")))).toBe("");
});

test("the overview lists agents that ask a person first, then failing, blocked and running ones", () => {
  const some = [
    anAgentStatus("a", { state: "idle" }),
    anAgentStatus("b", { state: "running" }),
    anAgentStatus("c", { state: "blocked", blockedBy: "budget" }),
    anAgentStatus("d", { state: "waiting", blockedBy: "lock" }),
    anAgentStatus("e", { state: "error" }),
    anAgentStatus("f", { state: "waiting", blockedBy: "person" }),
  ];
  const { sort } = filterOf(new URLSearchParams());
  expect(sortAgents(some, sort, now).map(({ name }) => name)).toEqual("fecdba".split(""));
});

test("each order of agents begins with the most relevant, and ends with those without a value", () => {
  expect(shown("sort=name")).toEqual(["api-review", "api-triage", "data-sync", "web-report"]);
  expect(shown("sort=-name")).toEqual(["web-report", "data-sync", "api-triage", "api-review"]);
  expect(shown("")).toEqual(["data-sync", "api-triage", "web-report", "api-review"]);
  expect(shown("sort=last-run")).toEqual(["api-triage", "data-sync", "api-review", "web-report"]);
  expect(shown("sort=-last-run")).toEqual(["data-sync", "api-triage", "api-review", "web-report"]);
  // The run that runs has taken two minutes so far.
  expect(shown("sort=duration").slice(0, 2)).toEqual(["api-triage", "api-review"]);
});
