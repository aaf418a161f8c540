import { VirtualTimeScheduler } from "rxjs";
import { TestScheduler, type RunHelpers } from "rxjs/testing";

export interface Marbles extends RunHelpers {
  readonly scheduler: TestScheduler;
}

/** Runs a test in virtual time from 1970 on; one column of a marble diagram is a millisecond. */
export function marbles(test: (helpers: Marbles) => void): void {
  const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
  scheduler.run((helpers) => test({ ...helpers, scheduler }));
}

/** The body of a test that runs in virtual time. */
export const inVirtualTime = (test: (helpers: Marbles) => void) => (): void => marbles(test);

/** A diagram whose columns are seconds. As ever, a group takes as many columns as it has characters. */
export function seconds(diagram: string): string {
  return stretched(diagram, 1000);
}

/** A diagram whose columns are minutes. */
export function minutes(diagram: string): string {
  return stretched(diagram, 60_000);
}

function stretched(diagram: string, columnMs: number): string {
  return diagram
    .replaceAll(" ", "")
    .replaceAll(/\([^)]*\)|[^-]|-/g, (one) =>
      one === "-" ? ` ${columnMs}ms ` : `${one} ${one.length * (columnMs - 1)}ms `,
    );
}

/** Virtual time that starts at a date (ISO 8601), for what depends on the calendar. */
export class VirtualCalendar extends VirtualTimeScheduler {
  /** How often somebody armed a timer. */
  scheduled = 0;
  private offset: number;

  constructor(start: string) {
    super();
    this.offset = Date.parse(start);
    const elapsed = this.now;
    this.now = () => this.offset + elapsed();
    const schedule = this.schedule.bind(this);
    this.schedule = (...parameters) => {
      this.scheduled++;
      return schedule(...parameters);
    };
  }

  /** Lets time pass until `end` (ISO 8601). */
  runUntil(end: string): void {
    this.maxFrames = Date.parse(end) - this.offset;
    this.flush();
    this.frame = this.maxFrames;
  }

  /** Sets the wall clock forward or back (ms) without letting timers see it, as a suspended machine does. */
  jump(ms: number): void {
    this.offset += ms;
  }
}
