import { tomlLocator } from "../../config/toml-locator.ts";
import type { TomlPath } from "../../config/toml-locator.ts";

/** Something that the import changed (`note`), or that a person still has to do (`edit`). */
export interface Remark {
  readonly kind: "edit" | "note";
  /** Path in the new project; null for what is about none of its files. */
  readonly file: string | null;
  /** From 1; null for a whole file. */
  readonly line: number | null;
  readonly message: string;
  /** What to write there, or the command to type; null when there is nothing to do. */
  readonly fix: string | null;
}

/** A remark about a key of a TOML file that is not written yet, so that it has a path and no line. */
export interface KeyRemark extends Pick<Remark, "kind" | "message" | "fix"> {
  /** Empty for the whole file. */
  readonly path: TomlPath;
}

export function keyNote(path: TomlPath, message: string): KeyRemark {
  return { kind: "note", path, message, fix: null };
}

export function keyEdit(path: TomlPath, message: string, fix: string): KeyRemark {
  return { kind: "edit", path, message, fix };
}

/** The remarks with their lines in the text of the file. */
export function placed(
  file: string,
  text: string,
  remarks: readonly KeyRemark[],
): readonly Remark[] {
  const locate = tomlLocator(text);
  return remarks.map(({ path, kind, message, fix }) => {
    return { kind, file, line: locate(path, "key")?.line ?? null, message, fix };
  });
}
