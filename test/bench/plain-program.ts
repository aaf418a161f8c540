import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { basename, join } from "node:path";

const root = join(import.meta.dirname, "../..");

/**
 * A program of this folder as plain JavaScript, and its path: the part of Node that takes types away costs memory and
 * time, which would count for the floor. It lies where it finds the packages.
 */
export function plainProgram(name: string): string {
  const dir = join(root, "node_modules/.cache/bench");
  mkdirSync(dir, { recursive: true });
  const path = join(dir, `${basename(name, ".ts")}.mjs`);
  writeFileSync(path, stripTypeScriptTypes(readFileSync(join(import.meta.dirname, name), "utf8")));
  return path;
}
