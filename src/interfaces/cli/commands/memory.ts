import type { Commands, Define } from "../help/al-command.ts";
import { wholeNumber } from "../options.ts";

const versionNumber = wholeNumber(0, 1_000_000_000);
const whichMemory = "Agent, or shared/<name> for a shared memory";

const memoryLog: Define = (command) =>
  command
    .description("List the versions of a memory, the latest first")
    .argument("<memory>", whichMemory)
    .option("-n, --lines <n>", "Number of versions", wholeNumber(1, 100), 20)
    .examples("al memory log triage", "al memory log shared/team -n 5")
    .does(async () => (await import("../operator/memory.ts")).showVersions);

const memoryShow: Define = (command) =>
  command
    .description("List the files of a memory, or print one of them")
    .argument("<memory>", whichMemory)
    .argument("[file]", "File to print")
    .option("--at <version>", "With a file: as it was in this version", versionNumber)
    .examples("al memory show triage", "al memory show triage state.json --at 3")
    .does(async () => (await import("../operator/memory.ts")).showMemory);

const memoryDiff: Define = (command) =>
  command
    .description("Show what a version of a memory changed, or the difference between two versions")
    .argument("<memory>", whichMemory)
    .argument("[version]", "Version (default: the latest)", versionNumber)
    .argument("[later]", "Later version to compare it with", versionNumber)
    .examples("al memory diff triage", "al memory diff triage 4", "al memory diff triage 2 4")
    .does(async () => (await import("../operator/memory.ts")).showMemoryDifference);

const memoryRestore: Define = (command) =>
  command
    .description("Make a new version of a memory with the files of an earlier one")
    .argument("<memory>", whichMemory)
    .argument("<version>", "Version; 0 for an empty memory", versionNumber)
    .option("-y, --yes", "Don't ask")
    .examples("al memory restore triage 3", "al memory restore shared/team 0 --yes")
    .exitCodes({ 1: "Nothing was restored; the reason is printed" })
    .does(async () => (await import("../operator/memory.ts")).restoreMemory);

/** Commands about what agents remember. */
export const memoryCommands = {
  memory: (command) =>
    command
      .description("Show and restore what agents remember between runs")
      .examples("al memory log triage", "al memory diff triage", "al memory restore triage 3")
      .inner("log", memoryLog)
      .inner("show", memoryShow)
      .inner("diff", memoryDiff)
      .inner("restore", memoryRestore),
} satisfies Commands;
