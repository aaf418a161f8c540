import { localTime, plain, plainLine } from "../../../../src/interfaces/cli/terminal/format.ts";

test("a time on another day has its date", () => {
  const noon = new Date(2026, 2, 9, 12, 0, 5).getTime();
  expect(localTime(noon, noon)).toBe("12:00:05");
  expect(localTime(noon, noon + 86_400_000)).toBe("2026-03-09 12:00:05");
});

test.each([
  ["\u001b[31mred\u001b[0m", "red"],
  ["title\u001b]0;owned\u0007", "title"],
  ["over\rwrite", "write"],
  ["right\u202eleft", "rightleft"],
  ["a\r\nb\tc\n", "a\nb\tc\n"],
])("text from outside: %j can't steer the terminal", (text, safe) =>
  expect(plain(text)).toBe(safe),
);

test("text from outside on one line has no breaks", () =>
  expect(plainLine(" a\n  b\t c ")).toBe("a b c"));
