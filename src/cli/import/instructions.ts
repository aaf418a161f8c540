import matter from "gray-matter";
import { parseYaml, splitSkill } from "../../config/front-matter.ts";
import type { Remark } from "./remark.ts";
import { tableAt, without } from "./tables.ts";
import type { Table } from "./tables.ts";

/** An agent's instructions, taken apart. */
export interface SplitInstructions {
  /** What older versions had in the front matter instead of in config.toml. */
  readonly config: Table;
  /** SKILL.md as it is here. */
  readonly text: string;
  readonly hadCompatibility: boolean;
}

/** Keys of an agent's config that stood in the front matter, at its top or under `metadata`. */
const configKeys = [
  ...[
    "credentials",
    "hooks",
    "model",
    "models",
    "params",
    "preflight",
    "scale",
    "schedule",
    "timeout",
  ],
  ...["webhooks", "maxWorkQueueSize", "runtime"],
];

/** SKILL.md or ACTIONS.md as it is here; a front matter that can't be read is left for al doctor to complain about. */
export function splitInstructions(theirs: string): SplitInstructions {
  const untouched = { config: {}, text: theirs, hadCompatibility: false };
  const parts = splitSkill(theirs);
  if ("message" in parts || parts.front === "") return untouched;
  const data = parseYaml(parts.front);
  if ("message" in data) return untouched;
  const metadata = tableAt(data.values, "metadata");
  const config = picked({ ...data.values, ...metadata });
  const hadCompatibility = data.values.compatibility !== undefined;
  if (Object.keys(config).length === 0 && !hadCompatibility) return untouched;
  const rest = without(metadata, ...configKeys);
  const front = {
    ...without(data.values, "compatibility", "metadata", ...configKeys),
    ...(Object.keys(rest).length === 0 ? {} : { metadata: rest }),
  };
  const isEmpty = Object.keys(front).length === 0;
  const text = isEmpty ? `${parts.body}\n` : matter.stringify(`\n${parts.body}\n`, front);
  return { config, text, hadCompatibility };
}

function picked(values: Table): Table {
  return Object.fromEntries(Object.entries(values).filter(([key]) => configKeys.includes(key)));
}

interface Rule {
  readonly found: RegExp;
  readonly message: string;
  readonly fix: (match: RegExpExecArray) => string;
}

const always = (text: string) => () => text;

/** What their instructions may say that is otherwise here. */
const rules: readonly Rule[] = [
  {
    found: /\b(rlock|runlock|rlock-heartbeat) +"(?![a-z][a-z0-9+.-]*:)([^"]*)"/i,
    message: "a lock is taken on a URI here",
    fix: ([, command = "", key = ""]) => `${command} "${uriFor(key)}"`,
  },
  {
    found: /\b(?:UN)?LOCK\(|\bHEARTBEAT\(/,
    message: "locks are commands here",
    fix: always('rlock "github:owner/repo/issues/1", runlock and rlock-heartbeat'),
  },
  {
    found: /\bal-exit\b(?!`? +(?:\d|\$))/,
    message: "al-exit without a code is a success here",
    fix: always("al-exit 15"),
  },
  { found: /\bal-shutdown\b/, message: "there is no al-shutdown", fix: always("al-exit 1") },
  { found: /\bal-call\b/, message: "al-call is called al-subagent", fix: always("al-subagent") },
  {
    found: /\bal-check\b/,
    message: "al-check is called al-subagent-check",
    fix: always("al-subagent-check"),
  },
  {
    found: /\bal-wait\b/,
    message: "al-wait is called al-subagent-wait",
    fix: always("al-subagent-wait"),
  },
  {
    found: /\breturnValue\b/,
    message:
      "al-subagent-check and al-subagent-wait answer with calls[], each with state, outcome and value",
    fix: always("jq '.calls[0].value'"),
  },
  {
    found: /\bsetenv\b/,
    message: "there is no setenv: a variable lasts for one command",
    fix: always("set the variable in the command that needs it, or keep the value in a file"),
  },
  {
    found: /\[(?:RERUN|SILENT|STATUS|TRIGGER|RETURN)\b[^\]]*\]/,
    message: "words in the answer are no signals here",
    fix: always("al-rerun, al-status, al-subagent or al-return"),
  },
  {
    found: /<skill-config>/,
    message: "the block of params has one name here",
    fix: always("<agent-config>"),
  },
  {
    found: /<skill-subagent>/,
    message: "the block of a call has one name here",
    fix: always("<agent-call>"),
  },
  {
    found: /\/credentials\/|\$AL_CREDENTIALS_PATH/,
    message: "credentials are no files of one folder here",
    fix: always("the variables that <credential-context> of the prompt names"),
  },
  {
    found: /\bGOOGLE_APPLICATION_CREDENTIALS_JSON\b/,
    message: "the account's key is a file here",
    fix: always("$GOOGLE_APPLICATION_CREDENTIALS, which holds the path of the file"),
  },
  {
    found: /\/app\/static\b/,
    message: "the agent's files are in its working directory here",
    fix: always("a path without /app/static, such as scripts/check.sh"),
  },
  {
    found: /\b(?:GATEWAY_URL|SHUTDOWN_SECRET)\b/,
    message: "runs don't reach the gateway",
    fix: always("a command such as rlock, al-subagent or al-status"),
  },
];

/** The lines of an agent's instructions that a person has to rewrite, with what to write. */
export function instructionRemarks(file: string, text: string): readonly Remark[] {
  return text.split("\n").flatMap((line, index) =>
    rules.flatMap(({ found, message, fix }): Remark[] => {
      const match = found.exec(line);
      if (match === null) return [];
      return [{ kind: "edit", file, line: index + 1, message, fix: fix(match) }];
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

/** Where files are that all agents share; each agent that names them gets a copy. */
export const sharedThere = "/app/static/shared/";
export const sharedHere = "references/shared/";
