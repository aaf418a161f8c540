import { agentAddress, withQuery } from "../../text/addresses.ts";
import type { ListView } from "../../kit/list-view.ts";

/** The parts of an agent's page below its head, by their names in the address; the first has none. */
const tabs = {
  runs: "Runs",
  why: "Why it didn't run",
  config: "Config",
  instructions: "Instructions",
  memory: "Memory",
};
export type Tab = keyof typeof tabs;

/** `of` names a shared memory. */
export const tabFilters = ["tab", "of"];

/** The memory that an address of an agent's page shows. */
export function memoryAt(agent: string, { filters: { of } }: ListView): string {
  return of?.startsWith("shared/") === true ? of : agent;
}

/** The tab that an address of the page opens. */
export function tabOf({ filters: { tab } }: ListView): Tab {
  return tab !== undefined && Object.hasOwn(tabs, tab) ? (tab as Tab) : "runs";
}

/** The view of a tab, as lists have views: the browser's history leads through them. */
function viewOfTab(tab: Tab): ListView {
  return { filters: tab === "runs" ? {} : { tab }, before: "" };
}

interface TabsProps {
  readonly agent: string;
  readonly current: Tab;
  readonly onOpen: (filters: ListView["filters"]) => void;
}

/** Links to the parts of an agent's page, which the browser opens without asking for the page again. */
export function Tabs({ agent, current, onOpen }: TabsProps) {
  return (
    <nav class="tabs" aria-label={`Parts of ${agent}`}>
      {(Object.keys(tabs) as Tab[]).map((tab) => {
        const { filters } = viewOfTab(tab);
        return (
          <a
            href={withQuery(agentAddress(agent), filters)}
            aria-current={tab === current ? "page" : undefined}
            key={tab}
            onClick={(event) => {
              if (event.ctrlKey || event.metaKey || event.shiftKey) return;
              event.preventDefault();
              onOpen(filters);
            }}
          >
            {tabs[tab]}
          </a>
        );
      })}
    </nav>
  );
}
