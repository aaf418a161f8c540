import { parseArgs } from "node:util";
import type { AgentCommand } from "../../contracts/agent-commands.ts";
import { UsageError } from "./usage-error.ts";

/** One command: how it is called, and what it asks of the run. */
export interface CommandEntry {
  readonly usage: string;
  /** For an agent, in a few words. */
  readonly purpose: string;
  /** Name of the ability. */
  readonly ability: string;
  /** The request; throws a UsageError for arguments that it does not know. */
  request(args: readonly string[], stdin: () => Promise<string>): Promise<object> | object;
}

/** The commands of an agent. Nothing but Node's own is loaded here, so that they start fast. */
export const commandTable: Readonly<Record<AgentCommand, CommandEntry>> = {
  "al-status": {
    usage: "al-status <text>",
    purpose: "shows people what you are doing, in one line",
    ability: "status",
    request: (args) => ({ text: someWords(args).join(" ") }),
  },
  "al-return": {
    usage: "al-return [value]",
    purpose:
      "sets what this run returns to whoever asked for it; JSON or text, also on standard input",
    ability: "return",
    request: async (args, stdin) => {
      const { words } = parsed(args, {});
      if (words.length > 1) throw new UsageError("one value at most; quote it");
      return { value: jsonOrText(words[0] ?? (await stdin())) };
    },
  },
  "al-rerun": {
    usage: "al-rerun",
    purpose: "has this agent started again at once when this run has succeeded",
    ability: "rerun",
    request: (args) => (noWords(parsed(args, {}).words), {}),
  },
  "al-exit": {
    usage: "al-exit [code]",
    purpose: "ends this run now; 0, the default, succeeded",
    ability: "exit",
    request: (args) => {
      const [code = "0", ...more] = parsed(args, {}).words;
      noWords(more);
      if (!/^\d{1,3}$/.test(code) || Number(code) > 255) {
        throw new UsageError(`"${code}" is no exit code; it is a number from 0 to 255`);
      }
      return { code: Number(code) };
    },
  },
  rlock: {
    usage: "rlock <resource> [--ttl SECONDS] [--wait SECONDS]",
    purpose: "takes an exclusive lock on a URI, so that no other run works on the same thing",
    ability: "lock",
    request: (args) => {
      const { words, seconds } = parsed(args, { ttl: "string", wait: "string" });
      const times = { ttlSeconds: seconds("ttl"), waitSeconds: seconds("wait") };
      return { resource: oneWord(words, "resource"), ...times };
    },
  },
  runlock: {
    usage: "runlock <resource>",
    purpose: "frees it",
    ability: "unlock",
    request: (args) => ({ resource: oneWord(parsed(args, {}).words, "resource") }),
  },
  "rlock-heartbeat": {
    usage: "rlock-heartbeat <resource> [--ttl SECONDS]",
    purpose: "extends it",
    ability: "lock-heartbeat",
    request: (args) => {
      const { words, seconds } = parsed(args, { ttl: "string" });
      return { resource: oneWord(words, "resource"), ttlSeconds: seconds("ttl") };
    },
  },
  "al-subagent": {
    usage: "al-subagent <agent> [--cancel-on-exit] <CONTEXT_FILE",
    purpose: "hands work to another agent; answers at once with a callId",
    ability: "call",
    request: async (args, stdin) => {
      const { words, values } = parsed(args, { "cancel-on-exit": "boolean" });
      const agent = oneWord(words, "agent");
      const cancelOnExit = values["cancel-on-exit"] === true ? true : undefined;
      return { agent, context: await stdin(), cancelOnExit };
    },
  },
  "al-subagent-check": {
    usage: "al-subagent-check <callId>...",
    purpose: "tells the state of calls and what they returned",
    ability: "call-check",
    request: (args) => ({ callIds: someWords(args) }),
  },
  "al-subagent-wait": {
    usage: "al-subagent-wait <callId>... [--timeout SECONDS]",
    purpose: "waits until all of them ended, then as al-subagent-check",
    ability: "call-wait",
    request: (args) => {
      const { words, seconds } = parsed(args, { timeout: "string" });
      if (words.length === 0) throw new UsageError("a callId is missing");
      return { callIds: words, timeoutSeconds: seconds("timeout") };
    },
  },
  wait_for_trigger: {
    usage:
      "wait_for_trigger --kind webhook|agent-call [--source S] [--event E] [--where path=value]... [--timeout SECONDS]",
    purpose:
      "waits for a webhook delivery or an agent's call that meets the conditions, also one since the run began",
    ability: "wait",
    request: (args) => {
      const { words, values, seconds, all } = parsed(args, {
        ...{ kind: "string", source: "string", event: "string", where: "string" },
        timeout: "string",
      });
      noWords(words);
      const { kind, source, event } = values;
      if (kind !== "webhook" && kind !== "agent-call") {
        throw new UsageError("--kind webhook or --kind agent-call is missing");
      }
      const where = conditions(all("where"));
      return { kind, source, event, where, timeoutSeconds: seconds("timeout") };
    },
  },
};

type OptionTypes = Readonly<Record<string, "string" | "boolean">>;

/** Arguments, sorted. */
function parsed(args: readonly string[], types: OptionTypes) {
  const options = Object.fromEntries(
    Object.entries(types).map(([name, type]) => [name, { type, multiple: name === "where" }]),
  );
  const { positionals: words, values } = parse(args, options);
  return {
    words,
    values,
    all: (name: string) => (values[name] ?? []) as readonly string[],
    seconds: (name: string) => secondsIn(name, values[name]),
  };
}

function parse(
  args: readonly string[],
  options: NonNullable<Parameters<typeof parseArgs>[0]>["options"] & object,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function secondsIn(name: string, value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const seconds = Number(value);
  if (value !== "" && Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw new UsageError(`--${name} ${value} is no number of seconds`);
}

function oneWord([word, ...more]: readonly string[], what: string): string {
  if (word === undefined) throw new UsageError(`the ${what} is missing`);
  noWords(more);
  return word;
}

function someWords(args: readonly string[]): readonly string[] {
  const { words } = parsed(args, {});
  if (words.length === 0) throw new UsageError("an argument is missing");
  return words;
}

function noWords([word]: readonly string[]): void {
  if (word !== undefined) throw new UsageError(`"${word}" is one argument too many`);
}

function conditions(texts: readonly string[]): Record<string, unknown> | undefined {
  if (texts.length === 0) return undefined;
  const pairs = texts.map((text) => {
    const [path = "", ...rest] = text.split("=");
    if (path === "" || rest.length === 0) throw new UsageError(`--where ${text} is no path=value`);
    return [path, scalarOrText(rest.join("="))] as const;
  });
  return Object.fromEntries(pairs);
}

/** A number, true, false, null or a quoted text as JSON; else the text itself. */
function scalarOrText(text: string): unknown {
  const value = jsonOrText(text);
  return typeof value === "object" && value !== null ? text : value;
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
