import type { RunnerExit } from "../../streams/runs/runner.ts";
import type { RunMessage } from "../contracts/run-messages.ts";

type ReturnMessage = Extract<RunMessage, { type: "return" }>;

/** What a run hands back beside its account. */
export type HandedBack = Pick<RunnerExit, "value" | "rerun">;

/** Puts the pieces of returned values together. */
export interface ReturnedValue {
  readonly take: (message: ReturnMessage) => void;
  /** The last whole value; undefined before the first. */
  readonly value: () => unknown;
}

/** Characters of a value; a run's own limit is far below, but what it writes is its own affair. */
const maxCharacters = 512 * 1024;

/** Takes values as they come; one that is too long or no JSON is left out. */
export function returnedValue(): ReturnedValue {
  let pieces = "";
  let last: unknown;
  return {
    take: ({ json, more }) => {
      pieces = (pieces + json).slice(0, maxCharacters);
      if (more) return;
      try {
        last = JSON.parse(pieces);
      } catch {
        // The caller gets the value before, or none.
      }
      pieces = "";
    },
    value: () => last,
  };
}
