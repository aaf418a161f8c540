import { configReference } from "../../../src/foundation/config/reference.ts";

const page = configReference();

// `vitest run <this file> -u` writes it anew.
test("the reference page of all config keys matches the schemas", () =>
  expect(page).toMatchFileSnapshot("../../../src/foundation/config/reference.md"));

test("every config key in the reference has its allowed values and a meaning", () => {
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows.length).toBeGreaterThan(50);
  for (const row of rows) {
    const [, key = "", takes = "", , meaning = ""] = row.split(/(?<!\\)\|/);
    expect([key, takes.trim() !== "", meaning.trim() !== ""]).toEqual([key, true, true]);
  }
});
