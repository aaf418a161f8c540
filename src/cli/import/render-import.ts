import { counted } from "../../contracts/format.ts";
import { plainLine } from "../format.ts";
import type { Colors } from "../output.ts";
import { fieldName } from "./credentials.ts";
import type { FoundCredentials } from "./credentials.ts";
import type { ImportPlan } from "./plan-import.ts";
import type { Remark } from "./remark.ts";

/** What the import is going to do, for the person who decides. */
export function renderPlan(
  { agents, files, remarks, leftOut }: ImportPlan,
  { source, target }: { readonly source: string; readonly target: string },
  colors: Colors,
): string {
  const notes = remarks.filter(({ kind }) => kind === "note");
  return [
    `${colors.bold(plainLine(source))} has ${counted(agents.length, "agent")}: ${agents.join(", ")}`,
    `It stays as it is, and becomes ${colors.bold(plainLine(target))}:`,
    ...[...files.keys()].map((path) => `  ${plainLine(path)}`),
    ...section("Written otherwise than it was:", notes, colors),
    ...section(
      "To do by hand afterwards:",
      remarks.filter(({ kind }) => kind === "edit"),
      colors,
    ),
    ...(leftOut.length === 0
      ? []
      : ["", colors.bold("Not taken:"), `  ${plainLine(leftOut.join(", "))}`]),
  ].join("\n");
}

/** What it would copy, without a value. */
export function renderCredentials({ store, fields }: FoundCredentials, home: string): string {
  return [
    `From ${plainLine(store)} to ${plainLine(home)}/credentials:`,
    ...fields.map((field) => `  ${plainLine(fieldName(field))}`),
  ].join("\n");
}

/** The remarks under a heading; nothing without any. */
export function section(heading: string, remarks: readonly Remark[], colors: Colors): string[] {
  if (remarks.length === 0) return [];
  return ["", colors.bold(heading), ...remarks.flatMap((remark) => linesOf(remark, colors))];
}

function linesOf({ file, line, message, fix }: Remark, colors: Colors): readonly string[] {
  const place =
    file === null ? "" : `${colors.cyan([file, line].filter((part) => part !== null).join(":"))}  `;
  return [
    `  ${place}${plainLine(message)}`,
    ...(fix === null ? [] : [`      ${colors.dim("fix:")} ${plainLine(fix)}`]),
  ];
}
