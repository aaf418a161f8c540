import { reviewOf, warningLines } from "../add/review.ts";
import { plain, plainLine } from "../terminal/format.ts";
import type { Colors } from "../terminal/output.ts";
import type { UpdatePlan } from "./plan-update.ts";

/** What an update would change: the files, a diff of SKILL.md, and what a reader of these would miss. */
export function renderUpdate(
  { from, commit, changes, diff, skill }: UpdatePlan,
  colors: Colors,
): string {
  const { agent, text, commit: installed } = from;
  const was = installed === null ? "an unknown commit" : installed.slice(0, 12);
  const changed = skill.files.filter(({ path }) => changes.some((change) => change.path === path));
  const review = reviewOf({ files: changed, leftOut: [], proposal: null });
  return [
    `${colors.bold(agent)}: ${plainLine(text)} ${was} → ${commit.slice(0, 12)}`,
    ...changes.map(({ path, kind, isLocal }) => {
      const isExecutable = changed.some((file) => file.path === path && file.isExecutable);
      const notes = [
        ...(isExecutable ? ["executable"] : []),
        ...(isLocal ? ["changed here, too"] : []),
      ];
      return `  ${kind.padEnd(8)} ${plainLine(path)}${notes.map((note) => colors.yellow(`  ${note}`)).join("")}`;
    }),
    ...(diff === null ? [] : diffLines(agent, diff, colors)),
    ...warningLines(review, colors),
  ].join("\n");
}

function diffLines(agent: string, diff: string, colors: Colors): string[] {
  const lines = plain(diff).split("\n");
  return [
    colors.bold(`--- agents/${agent}/SKILL.md`),
    colors.bold(`+++ agents/${agent}/SKILL.md`),
    ...lines.map((line) => {
      if (line.startsWith("+")) return colors.green(line);
      if (line.startsWith("-")) return colors.red(line);
      return line.startsWith("@@") ? colors.cyan(line) : line;
    }),
  ];
}
