import { bytesText } from "../../../foundation/contracts/format.ts";
import { parse, stringify } from "smol-toml";
import { inlineCommandsIn } from "../../../runtime/harness/inline-commands.ts";
import { hiddenCharacters } from "../../../features/skills/hidden-characters.ts";
import type { ReadSkill, SkillFile } from "./read-skill.ts";
import { plainLine } from "../terminal/format.ts";
import type { Colors } from "../terminal/output.ts";

/** Facts about a skill of another author that a person should know before it becomes an agent. */
export type Review = ReturnType<typeof reviewOf>;

/** Longer lists would not be read. */
const maxHidden = 20;

/** Looks through a skill, or those of its files that changed. */
export function reviewOf({ files, leftOut, proposal }: Omit<ReadSkill, "text">) {
  const text = files.find(({ path }) => path === "SKILL.md")?.content.toString("utf8") ?? "";
  return {
    files: files.map(({ path, content, isExecutable }) => ({
      path,
      bytes: content.byteLength,
      isExecutable,
    })),
    /** Paths beside the skill that are not added. */
    leftOut,
    /** Paths that are not added, although SKILL.md names them. */
    missed: leftOut.filter((path) => text.includes(path)),
    /** Commands of SKILL.md that run by themselves at the start of each run. */
    commands: inlineCommandsIn(text),
    hidden: files.flatMap(hiddenIn),
    /** The settings of a config.toml beside SKILL.md, which are not added; null without one. */
    proposal: proposal === null ? null : tableOf(proposal),
  };
}

function hiddenIn({ path, content }: SkillFile) {
  // Pictures and programs have bytes of all kinds.
  if (content.includes(0)) return [];
  return hiddenCharacters(content.toString("utf8"), maxHidden).map((one) => ({
    ...one,
    file: path,
  }));
}

function tableOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return parse(text);
  } catch {
    return null;
  }
}

/** The new agent, for a person who has to decide; without control sequences of the skill's. */
export function renderReview(
  review: Review,
  agent: Readonly<Record<"name" | "source" | "commit" | "model", string>>,
  colors: Colors,
): string {
  const { name, source, commit, model } = agent;
  return [
    "",
    colors.bold(`agents/${name}`) + ` from ${plainLine(source)} at ${commit.slice(0, 12)}`,
    ...fileLines(review, colors),
    `model        ${model}`,
    "credentials  none",
    "hooks        none",
    "runtime      container",
    ...warningLines(review, colors),
    ...missedLines(review, colors),
    ...proposalLines(review, colors),
  ].join("\n");
}

const shownLeftOut = 8;

function fileLines({ files, leftOut }: Review, colors: Colors): string[] {
  const lines = files.map(({ path, bytes, isExecutable }) => {
    const mark = isExecutable ? colors.yellow("  executable") : "";
    return `  ${bytesText(bytes).padStart(10)}  ${plainLine(path)}${mark}`;
  });
  if (leftOut.length === 0) return lines;
  const more = leftOut.length > shownLeftOut ? ` and ${leftOut.length - shownLeftOut} more` : "";
  const shown = leftOut.slice(0, shownLeftOut).map(plainLine).join(", ");
  return [...lines, colors.dim(`  not copied: ${shown}${more}`)];
}

/** Facts that a reader of the files would miss. */
export function warningLines({ commands, hidden, files }: Review, colors: Colors): string[] {
  const warn = colors.yellow("warning");
  return [
    ...commands.map(
      (command) => `${warn} SKILL.md runs at the start of each run: ${plainLine(command)}`,
    ),
    ...hidden.map(
      ({ file, line, column, codePoint, name }) =>
        `${warn} ${plainLine(file)}:${line}:${column} hides ${codePoint} (${name})`,
    ),
    ...(files.some(({ path }) => path === "Dockerfile")
      ? [
          `${warn} the commands of its Dockerfile run with network access when the image is built: read it first`,
        ]
      : []),
  ];
}

/** Files that the instructions name and runs won't find. */
function missedLines({ missed }: Review, colors: Colors): string[] {
  if (missed.length === 0) return [];
  const warn = colors.yellow("warning");
  return [`${warn} SKILL.md names ${missed.map(plainLine).join(", ")}: not copied`];
}

/** Sensitive keys first: a stranger must not decide about them. */
function proposalLines({ proposal }: Review, colors: Colors): string[] {
  if (proposal === null) return [];
  const { hooks, credentials, runtime, ...rest } = proposal;
  const sorted = Object.entries({ credentials, hooks, runtime, ...rest }).filter(
    ([, value]) => value !== undefined,
  );
  const text = stringify(Object.fromEntries(sorted)).trim().split("\n");
  return [
    colors.dim("its own config.toml is not copied; it would set:"),
    ...text
      .filter((line) => line !== "")
      .slice(0, 40)
      .map((line) => `  ${plainLine(line)}`),
  ];
}
