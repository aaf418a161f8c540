import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { commandTable } from "../../../src/interfaces/cli/help/command-table.ts";
import { buildProgram } from "../../../src/interfaces/cli/program.ts";
import { referencePage } from "../../../src/interfaces/cli/reference.ts";

const page = referencePage(commandTable(buildProgram()));

// `vitest run <this file> -u` writes it anew.
test("the page of all commands matches the command table", () =>
  expect(page).toMatchFileSnapshot("../../../src/interfaces/cli/reference.md"));

test("the README links to the page of all commands", () => {
  const readme = readFileSync(resolve(import.meta.dirname, "../../../README.md"), "utf8");
  expect(readme).toContain("(src/interfaces/cli/reference.md)");
});
