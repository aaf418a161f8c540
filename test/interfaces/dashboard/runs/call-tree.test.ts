import { callNodes, valueLine } from "../../../../src/interfaces/dashboard/runs/call-tree.ts";
import type { CallNode } from "../../../../src/interfaces/dashboard/runs/call-tree.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";

const entry = (id: string, caller: string | null, isRun = true) =>
  historyEntry({ id, caller, instanceId: `i-${id}`, ...(isRun ? {} : { startedAt: null }) });

function textOf(nodes: readonly CallNode[]): string {
  return nodes
    .map(({ entry: { id }, calls }) => (calls.length === 0 ? id : `${id}(${textOf(calls)})`))
    .join(" ");
}

test("the calls of a run are below it, in the order in which they were made", () => {
  const entries = [entry("a", null), entry("b", "i-a"), entry("c", "i-a"), entry("d", "i-b")];
  expect(textOf(callNodes(entries))).toBe("a(b(d) c)");
});

test("a call taken by a waiting run of its own tree causes no cycle", () => {
  const taken = { ...entry("c", "i-b", false), instanceId: "i-a" };
  expect(textOf(callNodes([entry("a", null), entry("b", "i-a"), taken]))).toBe("a(b(c))");
});

test("a call whose caller was deleted is still shown", () =>
  expect(textOf(callNodes([entry("b", "i-a"), entry("c", "i-b")]))).toBe("b(c)"));

test.each([
  [{ summary: "All done" }, "All done"],
  [{ summary: "All done", ok: true, files: 3 }, "All done · ok: true · files: 3"],
  [{ url: "https://a.test/1" }, "https://a.test/1"],
  [["a", { b: 1 }], "a, b: 1"],
  ["as it is", "as it is"],
  [`{"summary":"cut \\"here\\" an…`, 'cut "here" an…'],
  ['{"summary":"cut in an escape \\', "cut in an escape "],
  [0, "0"],
  [null, ""],
])("valueLine shows %j as %j", (value, line) => expect(valueLine(value)).toBe(line));
