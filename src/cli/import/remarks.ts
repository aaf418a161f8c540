import { tomlLocator } from "../../config/toml-locator.ts";
import type { TomlPath } from "../../config/toml-locator.ts";

/** Something that the import changed, or that a person has to change. */
export interface Remark {
  /** Path in the new project; null for a remark about credentials. */
  readonly file: string | null;
  /** From 1; null for a whole file. */
  readonly line: number | null;
  readonly message: string;
  /** The text to write there, or the command to type; null when nothing is left to do. */
  readonly fix: string | null;
}

/** A remark about a key of a TOML file that is not written yet: it has a path instead of a line. */
export interface KeyRemark extends Pick<Remark, "message" | "fix"> {
  /** Empty for the whole file. */
  readonly path: TomlPath;
}

/** The remarks with their lines in the text of the file. */
export function placed(file: string, text: string, remarks: readonly KeyRemark[]): Remark[] {
  const locate = tomlLocator(text);
  return remarks.map(({ path, message, fix }) => {
    return { file, line: locate(path, "key")?.line ?? null, message, fix };
  });
}
