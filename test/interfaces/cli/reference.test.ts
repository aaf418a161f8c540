import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { commandTable } from "../../../src/interfaces/cli/help/command-table.ts";
import { buildProgram } from "../../../src/interfaces/cli/program.ts";
import { referencePage } from "../../../src/interfaces/cli/reference.ts";

const page = referencePage(commandTable(buildProgram()));

// `vitest run <this file> -u` writes it anew.
test("the page of all commands matches the command table", () =>
  expect(page).toMatchFileSnapshot("../../../src/interfaces/cli/reference.md"));

test("the page of a command has arguments, options, examples and exit codes", () => {
  const [, section = ""] = page.split("\n## al run\n");
  const [run = ""] = section.split("\n## ");
  expect(run).toContain("al run [options] <agent>");
  expect(run).toContain("| `<agent>` | the agent to run |");
  expect(run).toContain("| `--prompt <text>` | what to tell the agent |");
  expect(run).toContain("Examples:\n\n```\nal run triage\n");
  expect(run).toMatch(/Exit codes:\n\n```\n[^]*124 {2}/);
});

test("the README links to the page of all commands", () => {
  const readme = readFileSync(resolve(import.meta.dirname, "../../../README.md"), "utf8");
  expect(readme).toContain("(src/interfaces/cli/reference.md)");
});
