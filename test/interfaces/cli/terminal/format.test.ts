import { localTime, plain, plainLine } from "../../../../src/interfaces/cli/terminal/format.ts";

test("localTime includes the date if it is not today's", () => {
  const noon = new Date(2026, 2, 9, 12, 0, 5).getTime();
  expect(localTime(noon, noon)).toBe("12:00:05");
  expect(localTime(noon, noon + 86_400_000)).toBe("2026-03-09 12:00:05");
});

test("plain removes control sequences and text-direction marks, but keeps line breaks", () =>
  expect(plain("right\u202eleft\u001b[2J\nb\tc")).toBe("rightleft\nb\tc"));

test("plainLine removes line breaks and tabs", () =>
  expect(plainLine(" a\n  b\t c ")).toBe("a b c"));
