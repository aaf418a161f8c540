import { isImageContext } from "../contracts/image-context.ts";
import { isSchemaFileName } from "../contracts/schema-file-name.ts";

/** What a path of the project is about; null when nothing reads it. `image`: an agent's Dockerfile, where it has one. */
export type PathKind =
  | { readonly kind: "project" }
  | { readonly kind: "agent"; readonly name: string }
  | { readonly kind: "image"; readonly name: string }
  | { readonly kind: "agents-root" }
  | null;

/** The files of an agent's directory that are read, beside its schemas. */
const agentFiles: readonly string[] = ["config.toml", "SKILL.md", "Dockerfile"];

/** Whether a path in an agent's directory is read as a part of its config. */
export function isOfAgent(path: string): boolean {
  return agentFiles.includes(path) || isSchemaFileName(path);
}

/**
 * What must be read again for a path relative to the project, with `/` or the system's separator. The name
 * is that of the directory, whether an agent may be called so or not: that is for its reader to report.
 */
export function classify(path: string): PathKind {
  const parts = path.split(/[/\\]/).filter((part) => part !== "" && part !== ".");
  const [first, name, ...inside] = parts;
  if (parts.length === 1 && first === "config.toml") return { kind: "project" };
  if (first !== "agents") return null;
  if (name === undefined) return { kind: "agents-root" };
  const file = inside.join("/");
  if (file === "" || isOfAgent(file)) return { kind: "agent", name };
  return isImageContext(file) ? { kind: "image", name } : null;
}
