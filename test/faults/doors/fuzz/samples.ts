import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const examples = resolve(import.meta.dirname, "../../../../examples");

/** The examples' files, from which bad ones are made. */
function read(pattern: string): readonly string[] {
  const paths = globSync(pattern, { cwd: examples }).sort();
  return paths.map((path) => readFileSync(join(examples, path), "utf8"));
}

export const sampleProjects = read("*/config.toml");
export const sampleAgents = read("*/agents/*/config.toml");
export const sampleSkills = [
  ...read("*/agents/*/SKILL.md"),
  "No front matter.\n",
  "---\r\nname: 'x'\r\n---\r\nText\r\n",
];
export const sampleSchemas = [
  ...read("*/agents/*/*.schema.json"),
  '{ "$schema": "http://json-schema.org/draft-07/schema#", "oneOf": [{ "type": "null" }, { "const": 1 }] }',
];
