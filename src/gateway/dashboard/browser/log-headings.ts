import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { create, createLink } from "./dom.ts";
import { dayText } from "./format.ts";

/** The day, or the run, of the lines below it. */
export interface LogHeading {
  readonly element: HTMLElement;
  readonly isDay: boolean;
}

/** Knows what the line above the next one belongs to. */
export interface LogHeadings {
  /** What is to stand between the line before and this one. */
  above(entry: LogEntry): readonly LogHeading[];
  /** There is no line before any more. */
  startAnew(): void;
}

/** Lines show the time of day only: those of another day than today get that day above them. */
export function createLogHeadings(linkTo: (instance: string) => string): LogHeadings {
  let instance = "";
  let day = new Date().toDateString();
  return {
    above: ({ time, instanceId }) => {
      const headings: LogHeading[] = [];
      const dayOfEntry = new Date(time).toDateString();
      if (dayOfEntry !== day) {
        day = dayOfEntry;
        headings.push({ element: create("div", "day-heading", dayText(time)), isDay: true });
      }
      if (instanceId !== undefined && instanceId !== instance) {
        instance = instanceId;
        headings.push({ element: runHeading(instance, linkTo(instance)), isDay: false });
      }
      return headings;
    },
    startAnew: () => {
      instance = "";
      day = new Date().toDateString();
    },
  };
}

function runHeading(instance: string, address: string): HTMLElement {
  const link = createLink(address, "", instance);
  link.title = "Only this run";
  return create("div", "run-heading", link);
}
