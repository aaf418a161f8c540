import type { z } from "zod";

/** Rows receive zod as an argument: agents' commands and the dashboard's pages use rows too, and must not load zod. */
export type Zod = typeof z;

/**
 * The complete definition of one request that an agent can make while it runs. The rows generate the run socket's
 * routes and validation, the tools of pi, the shell commands, the prompt and the reference page. The scheduler, or the
 * run itself, implements the request elsewhere.
 */
export interface RequestRow {
  /** The body of the request. The descriptions of its fields are for the model. */
  readonly request: (z: Zod) => z.ZodObject;
  readonly answer: (z: Zod) => z.ZodObject;
  /** Fields that are stored and shown unredacted: a request with a secret in them is refused. */
  readonly shown?: readonly string[];
  /** Present if the scheduler may delay the answer: the run cancels the request if it no longer awaits it. */
  readonly canWait?: true;
  /** Present if the request must reach the scheduler: it is repeated for as long as that is down. */
  readonly isVital?: true;
  /**
   * Present if the harness alone makes the request, beside the agent's work: an agent can't make it, and a run that waits
   * is frozen all the same.
   */
  readonly isOfHarness?: true;
  /** Absent for a request that the harness makes by itself. */
  readonly tool?: ToolRow;
  readonly command?: CommandRow;
}

export interface ToolRow {
  readonly name: string;
  /** Tells the model the tool's effect and when to use it. */
  readonly description: string;
}

/** A command in an agent's shell. */
export interface CommandRow {
  readonly name: string;
  readonly usage: string;
  /** For an agent, in a few words. */
  readonly purpose: string;
  /** The request's options by name. A list may be given several times. */
  readonly options?: Readonly<Record<string, "text" | "flag" | "list">>;
  /** The body of the request; throws a Problem (usage) for invalid arguments. */
  readonly body: (args: CommandArguments) => Promise<object> | object;
  /** The exit code for a request that was performed, from its body and its answer; 0 if absent. A refused one then has 2. */
  readonly exitCode?: (
    body: Readonly<Record<string, unknown>>,
    answer: Readonly<Record<string, unknown>>,
  ) => number;
}

/** The arguments of a command. Words that the row does not read are refused. */
export interface CommandArguments {
  /** The next word; the parameter names it in the error if it is missing. */
  word(name: string): string;
  /** The next word, if there is one. */
  optionalWord(): string | undefined;
  /** All words, at least one. */
  words(name: string): readonly string[];
  text(option: string): string | undefined;
  /** True or absent. */
  flag(option: string): true | undefined;
  list(option: string): readonly string[];
  seconds(option: string): number | undefined;
  stdin(): Promise<string>;
}

/** Parses a text as JSON; returns the text itself if it isn't JSON. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The most characters of a text that a run sends: a context, a status, a value as JSON. */
export const maxTextLength = 65_536;

/** An answer without data: the request was performed. */
export const done = (z: Zod) => answerWith(z, {});

/** An answer with data. */
export const answerWith = <T extends z.core.$ZodLooseShape>(z: Zod, data: T) =>
  z.object({ ok: z.literal(true), ...data });

export const seconds = (z: Zod) => z.number().min(0).max(86_400);

/** A URI, so that two agents use the same name; without invisible characters, because people read it. */
export const resource = (z: Zod): z.ZodString =>
  z
    .string()
    .max(512)
    .regex(
      /^[a-z][a-z0-9+.-]*:[^\s\p{C}]+$/iu,
      "a resource is a URI, such as github:acme/app/issues/7",
    )
    .describe("A URI, such as github:acme/app/issues/7.");

/** A name that is shown to people. */
export const shownName = (z: Zod): z.ZodString =>
  z
    .string()
    .max(200)
    .regex(/^\P{C}*$/u, "it contains a control character");

const most = 5;

/** A schema's first five problems for a person: path and message, without the value. */
export function schemaProblems({ issues }: z.ZodError): string {
  const problems = issues.map(({ path, message }) =>
    [path.join("."), message].filter((part) => part !== "").join(": "),
  );
  return problems.slice(0, most).join("; ");
}
