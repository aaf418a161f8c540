import { create } from "./dom.ts";

/** Output longer than this is folded: lines and characters. */
const foldLines = 8;
const foldChars = 700;

/** Output as it is; a long one is folded under its number of lines. */
export function outputBlock(output: string): HTMLElement {
  const block = create("pre", "output", output);
  const lines = output.trimEnd().split("\n").length;
  if (lines <= foldLines && output.length <= foldChars) return block;
  const summary = create("summary", "", `output, ${lines.toLocaleString("en")} lines`);
  return create("details", "", summary, block);
}
