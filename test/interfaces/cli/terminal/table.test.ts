import fc from "fast-check";
import pc from "picocolors";
import { widthOf } from "../../../../src/interfaces/cli/terminal/fit.ts";
import { renderTable, titled } from "../../../../src/interfaces/cli/terminal/table.ts";

const long = "a reason ".repeat(30).trim();
const rows = [
  [long, "a-very-long-name-of-an-agent"],
  ["short", "ops"],
];
const render = (columns: number | null) =>
  renderTable(titled("Why…", "Target"), rows, { columns, colors: pc.createColors(false) });

test("a table without a terminal prints a long text in full, without padding other rows", () =>
  expect(render(null).split("\n").slice(1)).toEqual([
    `${long}  a-very-long-name-of-an-agent`,
    `${"short".padEnd(60)}  ops`,
  ]));

test("a table fits its terminal by cutting only columns that may shrink", () =>
  fc.assert(
    fc.property(fc.integer({ min: 38, max: 300 }), (columns) => {
      const lines = render(columns).split("\n");
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
      expect(lines.map((line) => line.split(/ {2,}/).at(-1))).toEqual([
        "Target",
        "a-very-long-name-of-an-agent",
        "ops",
      ]);
    }),
  ));
