import { homedir } from "node:os";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { withoutEndSlashes } from "../../foundation/contracts/plain-text.ts";
import { Problem } from "../../foundation/errors.ts";

interface Repository {
  /** The source in a config: a URL or a shorthand, without the skill. */
  readonly repository: string;
  /** The argument for git; never begins with a dash. */
  readonly url: string;
}

/** Where a skill comes from. */
export interface SkillSource extends Repository {
  /** The name after `#`, which chooses one of several skills; null without one. */
  readonly skill: string | null;
}

/**
 * Parses a source as a person or a config names it: an https, ssh or file URL, `git@host:path`, `owner/name` for GitHub, or
 * a directory that begins with `/`, `.` or `~`. Throws a Problem (usage) for anything else.
 */
export function parseSkillSource(text: string, cwd: string): SkillSource {
  if (text === "" || text.startsWith("-") || /[\s\u0000-\u0020\u007f]/.test(text)) {
    throw refused(text, "expected a URL, owner/name, or a directory");
  }
  const [, where = "", skill = null] = /^([^#]*)(?:#(.+))?$/.exec(text) ?? [];
  return { ...placeOf(where, text, cwd), skill };
}

/** The text that leads back to the skill. */
export function skillSourceText({ repository }: SkillSource, skill: string | null): string {
  return skill === null ? repository : `${repository}#${skill}`;
}

/** The repository's name: the last part of its address, without `.git`. */
export function repositoryName({ url }: SkillSource): string {
  return basename(withoutEndSlashes(url).replace(/(\/?\.git)$/, "")).replace(/^.*:/, "");
}

function placeOf(where: string, text: string, cwd: string): Repository {
  if (/^[a-z][a-z0-9+.-]*::?/i.test(where) && !isScpLike(where)) return urlOf(where, text);
  if (isScpLike(where)) return { repository: where, url: where };
  if (/^[./~]/.test(where)) {
    const path = where.startsWith("~/") ? resolve(homedir(), where.slice(2)) : resolve(cwd, where);
    const url = pathToFileURL(path).href;
    return { repository: url, url };
  }
  if (/^[\w.-]+\/[\w.-]+$/.test(where)) {
    return { repository: where, url: `https://github.com/${where.replace(/\.git$/, "")}.git` };
  }
  throw refused(text, "expected a URL, owner/name for GitHub, or a directory that begins with ./");
}

/** `git@host:path`, which is ssh. */
function isScpLike(where: string): boolean {
  return /^[\w.][\w.-]*@[\w.][\w.-]*:[^-:][^:]*$/.test(where);
}

function urlOf(where: string, text: string): Repository {
  const url = URL.parse(where);
  if (url === null || !["https:", "ssh:", "file:"].includes(url.protocol) || where.includes("::")) {
    throw refused(text, "only https, ssh and file URLs are accepted");
  }
  if (url.password !== "" || (url.protocol === "https:" && url.username !== "")) {
    const message = "the URL contains a name or password, which would be stored in config.toml";
    const hint = "leave it out; git asks its credential helper, or use an ssh URL";
    throw new Problem("usage", message, { hint, exitCode: 2 });
  }
  if (url.protocol !== "file:" && url.hostname === "") throw refused(text, "it names no host");
  if (url.hostname.startsWith("-") || url.username.startsWith("-")) {
    throw refused(text, "a host does not begin with -");
  }
  return { repository: where, url: where };
}

function refused(text: string, why: string): Problem {
  return new Problem("usage", `${JSON.stringify(text)} is not a repository: ${why}`, {
    hint: "Use for example `al add acme/skills`, `al add https://example.com/skills.git` or `al add ./skills`.",
    exitCode: 2,
  });
}
