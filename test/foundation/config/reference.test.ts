import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { configReference } from "../../../src/foundation/config/reference.ts";

const page = configReference();

// `vitest run <this file> -u` writes it anew.
test("the page of all keys says what the schemas say", async () => {
  await expect(page).toMatchFileSnapshot("../../../src/foundation/config/reference.md");
});

test("every key says what it takes and what it is for", () => {
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows.length).toBeGreaterThan(50);
  for (const row of rows) {
    const [, key = "", takes = "", , meaning = ""] = row.split(/(?<!\\)\|/);
    expect([key, takes.trim() !== "", meaning.trim() !== ""]).toEqual([key, true, true]);
  }
});

test("every table of the files has its section", () => {
  const titles = [
    "[models.<name>]",
    "[harness]",
    "[local]",
    "[gateway]",
    "[budget]",
    "[webhooks.<source>]",
  ];
  for (const title of [...titles, "[[webhooks]]", "[hooks]", "[runtime]"]) {
    expect(page).toContain(`\n### \`${title}\`\n`);
  }
});

test("the README leads to the page", () => {
  const readme = readFileSync(resolve(import.meta.dirname, "../../../README.md"), "utf8");
  expect(readme).toContain("(src/foundation/config/reference.md)");
});
