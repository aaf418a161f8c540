import type { Remark } from "./keys.ts";

/** SKILL.md without the line of its front matter that names versions of Action Llama. */
export function withoutCompatibility(skill: string): string {
  const [front = ""] = /^---\n(?:.*\n)*?---\n/.exec(skill) ?? [];
  return front.replace(/^compatibility:.*\n/m, "") + skill.slice(front.length);
}

type Rule = readonly [found: RegExp, message: string, fix: string];

/** Text of their instructions that means something else here, with what to write. `{uri}` is made of the lock's key. */
const rules: readonly Rule[] = [
  [
    /\b(rlock|runlock|rlock-heartbeat) +"(?![a-z][a-z0-9+.-]*:)([^"]*)"/i,
    "a lock is taken on a URI here",
    '{command} "{uri}"',
  ],
  [/\bal-exit\b(?!`? +(?:\d|\$))/, "al-exit without a code is a success here", "al-exit 15"],
  [
    /\bal-(?:call|check|wait)\b/,
    "subagents have other commands here",
    "al-subagent, al-subagent-check or al-subagent-wait",
  ],
  [
    /\breturnValue\b/,
    "al-subagent-check and al-subagent-wait answer with calls[], each with state, outcome and value",
    "jq '.calls[0].value'",
  ],
  [
    /\bsetenv\b/,
    "there is no setenv: a variable lasts for one command",
    "set the variable in the command that needs it, or keep the value in a file",
  ],
  [
    /\[(?:RERUN|SILENT|STATUS|TRIGGER|RETURN)\b[^\]]*\]/,
    "words in the answer are no signals here",
    "al-rerun, al-status, al-subagent or al-return",
  ],
  [/<skill-config>/, "the block of params has one name here", "<agent-config>"],
  [
    /\/credentials\/|\$AL_CREDENTIALS_PATH/,
    "credentials are not files of one folder here",
    "the variables that <credential-context> of the prompt names",
  ],
  [
    /\bGOOGLE_APPLICATION_CREDENTIALS_JSON\b/,
    "the account's key is a file here",
    "$GOOGLE_APPLICATION_CREDENTIALS, which holds the path of the file",
  ],
  [
    /\/app\/static\b/,
    "the agent's files are in its working directory here",
    "a path without /app/static, such as scripts/check.sh",
  ],
];

/** The lines of an agent's instructions that a person has to rewrite, with what to write. */
export function instructionRemarks(file: string, text: string): readonly Remark[] {
  return text.split("\n").flatMap((line, index) =>
    rules.flatMap(([found, message, fix]) => {
      const match = found.exec(line);
      if (match === null) return [];
      const [, command = "", key = ""] = match;
      const written = fix.replace("{command}", () => command).replace("{uri}", () => uriFor(key));
      return [{ file, line: index + 1, message, fix: written }];
    }),
  );
}

/** `github issue acme/app#7` as `github:issue/acme/app/7`. */
function uriFor(key: string): string {
  const [scheme = "", ...rest] = key.trim().split(/[\s#]+/);
  return /^[a-z][a-z0-9+.-]*$/i.test(scheme) && rest.length > 0
    ? `${scheme.toLowerCase()}:${rest.join("/")}`
    : `lock:${key.trim().replaceAll(/[\s#]+/g, "/")}`;
}
