import pc from "picocolors";
import { renderTable, titled } from "../../../../src/interfaces/cli/terminal/table.ts";

test("off a terminal a long text stays whole, and pads no other row", () => {
  const long = "a reason ".repeat(30).trim();
  const style = { colors: pc.createColors(false), columns: null };
  const rows = [
    [long, "ops"],
    ["short", "ops"],
  ];
  const [, first, second] = renderTable(titled("Why…", "Target"), rows, style).split("\n");
  expect(first).toBe(`${long}  ops`);
  expect(second).toBe(`${"short".padEnd(60)}  ops`);
});
