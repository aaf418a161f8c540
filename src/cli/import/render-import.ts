import { counted } from "../../contracts/format.ts";
import { plainLine } from "../terminal/format.ts";
import type { Colors } from "../terminal/output.ts";
import { fieldName } from "./credentials.ts";
import type { FoundCredentials } from "./credentials.ts";
import type { ImportPlan } from "./plan-import.ts";
import type { Remark } from "./remarks.ts";

/** The files, changes and edits of the import, for the person who decides. */
export function renderPlan(
  { agents, files, remarks, leftOut }: ImportPlan,
  { source, target }: { readonly source: string; readonly target: string },
  colors: Colors,
): string {
  const notes = remarks.filter(({ fix }) => fix === null);
  const edits = remarks.filter(({ fix }) => fix !== null);
  return [
    `${colors.bold(plainLine(source))} has ${counted(agents.length, "agent")}: ${agents.join(", ")}`,
    `It stays as it is, and becomes ${colors.bold(plainLine(target))}:`,
    ...[...files.keys()].map((path) => `  ${plainLine(path)}`),
    ...section("Changed:", notes, colors),
    ...section("To do by hand afterwards:", edits, colors),
    ...(leftOut.length === 0
      ? []
      : ["", colors.bold("Not taken:"), `  ${plainLine(leftOut.join(", "))}`]),
  ].join("\n");
}

/** The names of the credentials that would be copied. */
export function renderCredentials({ store, fields }: FoundCredentials, home: string): string {
  return [
    `From ${plainLine(store)} to ${plainLine(home)}/credentials:`,
    ...fields.map((field) => `  ${plainLine(fieldName(field))}`),
  ].join("\n");
}

/** The remarks under a heading; nothing without any. */
export function section(heading: string, remarks: readonly Remark[], colors: Colors): string[] {
  if (remarks.length === 0) return [];
  const lines = remarks.flatMap(({ file, line, message, fix }) => {
    const place = [file, line].filter((part) => part !== null).join(":");
    return [
      `  ${place === "" ? "" : `${colors.cyan(place)}  `}${plainLine(message)}`,
      ...(fix === null ? [] : [`      ${colors.dim("fix:")} ${plainLine(fix)}`]),
    ];
  });
  return ["", colors.bold(heading), ...lines];
}
