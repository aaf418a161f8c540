/** The kind of a line of a unified diff. */
export function differenceLine(line: string): "file" | "place" | "added" | "removed" | "same" {
  if (/^(---|\+\+\+) /.test(line)) return "file";
  if (line.startsWith("@@")) return "place";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "same";
}
