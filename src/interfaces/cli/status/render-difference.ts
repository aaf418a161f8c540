import { commitText } from "../../../foundation/contracts/run-facts.ts";
import type { RunDifference } from "../../../foundation/contracts/run-view.ts";
import { plain } from "../terminal/format.ts";
import type { Colors } from "../terminal/output.ts";

/** Which runs are compared and which commits they ran, in one line. */
export function differenceNote({ from, to, changed }: RunDifference): string {
  const side = ({ instanceId, version }: RunDifference["from"]): string => {
    const commit = commitText(version);
    return commit === null ? instanceId : `${instanceId} (commit ${commit})`;
  };
  const what = changed ? "what changed from" : "nothing changed from";
  return `${what} ${side(from)} to ${side(to)}`;
}

/** A unified difference as git colours it. */
export function renderDifference(text: string, colors: Colors): string {
  return plain(text.replace(/\n$/, ""))
    .split("\n")
    .map((line) => colored(line, colors))
    .join("\n");
}

function colored(line: string, colors: Colors): string {
  if (/^(---|\+\+\+) /.test(line)) return colors.bold(line);
  if (line.startsWith("@@")) return colors.cyan(line);
  if (line.startsWith("+")) return colors.green(line);
  return line.startsWith("-") ? colors.red(line) : line;
}
