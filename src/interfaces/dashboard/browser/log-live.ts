import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { counted, durationText } from "../../../foundation/contracts/format.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { create, setText } from "./dom.ts";

/** What a call printed while it ran, all of it in one line of the log. */
export interface LiveBlock {
  readonly element: HTMLElement;
  /** Takes one more line of the call. */
  add(entry: LogEntry): void;
  /** The call is over: its result shows the output from now on. */
  fold(): void;
}

/** Characters that a page holds of one call: the newest. */
const maxCharacters = 64 * 1024;

export function createLiveBlock(first: LogEntry): LiveBlock {
  const summary = create("summary");
  const output = create("pre", "output");
  const element = create("details", "live", summary, output);
  let text = "";
  let lines = 0;
  let durationMs = 0;
  const show = (): void => {
    const count = lines === 0 ? "no output" : counted(lines, "line");
    const when = element.open ? "so far" : "while it ran";
    setText(summary, `${count} ${when} · ${durationText(durationMs)}`);
  };
  const add = (entry: LogEntry): void => {
    const piece = typeof entry.output === "string" ? plainText(entry.output) : "";
    const { leftOut } = entry;
    const isCut = typeof leftOut === "number" && leftOut > 0;
    text += (isCut ? `… ${counted(leftOut, "character")} left out\n` : "") + piece;
    text = text.slice(-maxCharacters);
    lines += piece.split("\n").length - 1;
    durationMs = typeof entry.durationMs === "number" ? entry.durationMs : durationMs;
    output.textContent = text;
    output.hidden = text === "";
    show();
  };
  element.open = true;
  add(first);
  return {
    element,
    add,
    fold: () => {
      element.open = false;
      show();
    },
  };
}
