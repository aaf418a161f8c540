import fc from "fast-check";
import { fittingPage, shrunk } from "../../../src/interfaces/mcp/bounded.ts";

const most = 20_000;

test("an MCP answer that fits is unchanged", () => {
  const value = { a: "x".repeat(9_000), b: [1, null] };
  expect(shrunk(value)).toEqual({ value, cut: false });
});

test.each([1, 60])(
  "an MCP answer of %i long rows is shortened to the limit, and keeps its fields",
  (n) => {
    const texts = Array.from({ length: 20 }, () => "\u{1f600}".repeat(200));
    const row = {
      id: "i",
      texts,
      inner: { msg: "\u2028".repeat(300) },
      msg: "\u0001".repeat(30_000),
    };
    const { value, cut } = shrunk({ rows: Array.from({ length: n }, () => row), next: null });
    expect(JSON.stringify(value).length).toBeLessThanOrEqual(most);
    expect({ cut, fields: Object.keys(value) }).toEqual({ cut: true, fields: ["rows", "next"] });
  },
);

test("an MCP answer says how much of a text was cut", () =>
  expect(shrunk({ text: "y".repeat(30_000) }).value.text).toBe(
    `${"y".repeat(4_000)}… [26000 more characters]`,
  ));

test("pages read one after another have each row once, whatever their lengths", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 40 }),
      fc.integer({ min: 1, max: 50 }),
      async (lengths, limit) => {
        const rows = lengths.map((length, id) => ({ id, text: "z".repeat(length) }));
        const read = (after: number) => (count: number) =>
          Promise.resolve({ rows: rows.slice(after, after + count), next: after + count });
        const seen: number[] = [];
        for (let next = 0; next < rows.length;) {
          const page = await fittingPage(limit, read(next));
          expect(JSON.stringify(page.rows).length).toBeLessThan(most);
          seen.push(...page.rows.map(({ id }) => id));
          next = page.next;
        }
        expect(seen).toEqual(rows.map(({ id }) => id));
      },
    ),
    { numRuns: 40 },
  ));
