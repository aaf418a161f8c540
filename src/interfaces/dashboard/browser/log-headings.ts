import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { create, createLink } from "./dom.ts";
import { dayText } from "./format.ts";
import { runLink } from "./run-parts.ts";

/** Knows what the line above the next one belongs to. */
export interface LogHeadings {
  /** What is to stand between the line before and this one: a day, a run. */
  above(entry: LogEntry): Above;
}

export interface Above {
  readonly headings: readonly HTMLElement[];
  /** The line before is right above this one, and shows the same time of day. */
  readonly hasSameTime: boolean;
}

/** Lines show the time of day only: those of another day than today get that day above them. */
export function createLogHeadings(linkTo: (instance: string) => string): LogHeadings {
  let instance = "";
  let day = new Date().toDateString();
  let second = NaN;
  return {
    above: ({ time, agent, instanceId }) => {
      const headings: HTMLElement[] = [];
      const dayOfEntry = new Date(time).toDateString();
      if (dayOfEntry !== day) {
        day = dayOfEntry;
        headings.push(create("div", "day-heading", dayText(time)));
      }
      if (instanceId !== undefined && instanceId !== instance) {
        instance = instanceId;
        headings.push(runHeading(agent, instance, linkTo(instance)));
      }
      const before = second;
      second = Math.floor(time / 1000);
      return { headings, hasSameTime: headings.length === 0 && before === second };
    },
  };
}

/** Leads to the lines of the run alone, and to its page. */
function runHeading(agent: string, instance: string, address: string): HTMLElement {
  const link = createLink(address, "", instance);
  link.title = "Only this run";
  return create("div", "run-heading", link, runLink(agent, instance, "run"));
}
