import { readFile } from "node:fs/promises";
import { parse, TomlError } from "smol-toml";
import { scriptSchema } from "../../foundation/contracts/job.ts";
import type { Script } from "../../foundation/contracts/job.ts";
import { messageOf, UserError } from "../../foundation/errors.ts";

/**
 * Reads what the `scripted` provider replays: a TOML file of `[[turns]]`, each with `text` and
 * `[[turns.tools]]` (`name`, `arguments`). Throws a UserError that names the file and what is wrong in it.
 */
export async function readScriptFile(path: string): Promise<Script> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw unread(path, error);
  });
  const checked = scriptSchema.safeParse(parsed(path, text));
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const place = issue?.path.map(String).join(".") ?? "";
    throw broken(path, `${place === "" ? "" : `${place}: `}${issue?.message ?? "is not a script"}`);
  }
  refuseUnreachableTurns(path, checked.data);
  return checked.data;
}

function parsed(path: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [what] = error.message.split("\n");
    throw broken(`${path}:${error.line}:${error.column}`, what ?? "is not TOML", error);
  }
}

/** A turn without a tool call is the model's last word: an agent never asks for the turns behind it. */
function refuseUnreachableTurns(path: string, { turns }: Script): void {
  const last = turns.findIndex((turn) => (turn.tools ?? []).length === 0);
  if (last === -1 || last === turns.length - 1) return;
  throw broken(
    path,
    `turn ${last + 1} of ${turns.length} calls no tool, so the session ends with it and the turns after it never play`,
  );
}

function unread(path: string, cause: unknown): UserError {
  const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
  const what = isMissing ? "is not there" : `can't be read: ${messageOf(cause)}`;
  const hint = "script in [models.<name>] of config.toml names it, relative to the project";
  return new UserError("script_unreadable", `the script ${path} ${what}`, { hint, cause });
}

function broken(place: string, what: string, cause?: unknown): UserError {
  return new UserError("script_invalid", `${place}  ${what}`, {
    hint: 'A script is a list of [[turns]], each with text = "…" and, where it calls tools, [[turns.tools]] with name and arguments.',
    cause,
  });
}
