import { execFileSync } from "node:child_process";
import manifest from "../package.json" with { type: "json" };
import { packages } from "./runtime/harness/llm-cli/real-programs.ts";

/**
 * `npm run outdated-harness`: compares the pinned pi and the versions of the command lines that the harness is made for with
 * the registry. Prints one line each; exit code 1 if one is outdated.
 */
const pi = ["@earendil-works/pi-coding-agent", "@earendil-works/pi-ai"] as const;
const pinned = [
  ...pi.map((name) => [name, manifest.devDependencies[name]] as const),
  ...Object.entries(packages),
];

const changelogs: Readonly<Record<string, string>> = {
  "@earendil-works/pi-coding-agent":
    "https://github.com/earendil-works/pi/blob/main/packages/coding-agent/CHANGELOG.md",
  "@earendil-works/pi-ai":
    "https://github.com/earendil-works/pi/blob/main/packages/ai/CHANGELOG.md",
  "@anthropic-ai/claude-code": "https://github.com/anthropics/claude-code/blob/main/CHANGELOG.md",
  "@openai/codex": "https://github.com/openai/codex/releases",
  "@google/gemini-cli": "https://github.com/google-gemini/gemini-cli/releases",
};

for (const [name, version] of pinned) {
  const view = execFileSync("npm", ["view", name, "version"], { encoding: "utf8" });
  const newest = view.trim();
  const isNewest = newest === version;
  const range = `→ ${newest}: ${changelogs[name]}, after ${version} up to ${newest}`;
  process.stdout.write(`${name} ${version} ${isNewest ? "is the newest" : range}\n`);
  if (!isNewest) process.exitCode = 1;
}
