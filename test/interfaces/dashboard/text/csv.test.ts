import { csvRows } from "../../../../src/interfaces/dashboard/text/csv.ts";

const most = { rows: 3, cells: 3 };

describe("csvRows", () => {
  test.each([
    [
      "a,b\n1,2\n",
      [
        ["a", "b"],
        ["1", "2"],
      ],
    ],
    [
      '"a, ""b""",c\r\n"two\nlines",',
      [
        ['a, "b"', "c"],
        ["two\nlines", ""],
      ],
    ],
    ["a;b", [["a;b"]]],
    ["a,b,c,d,e", [["a", "b", "c"]]],
    ["1\n2\n3\n4\n", [["1"], ["2"], ["3"]]],
    ["a\n\nb", [["a"], ["b"]]],
    ['"never closed,\n', [["never closed,\n"]]],
    ['"closed" then,b', [["closed", "b"]]],
    ["", []],
  ])("reads %j as rows of cells, at most 3 of each", (text, rows) => {
    expect(csvRows(text, ",", most)).toEqual(rows);
  });

  test("splits at the given separator", () => {
    expect(csvRows("a\tb,c\n", "\t", most)).toEqual([["a", "b,c"]]);
  });
});
