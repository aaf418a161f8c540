/** The properties of each harness. Code reads one of these and never compares the name of a harness. */
interface HarnessTraits {
  /** Completes `"<name>" …` in the reference of the config. */
  readonly summary: string;
  /** Runs the external command line of `[harness].command`. */
  readonly startsCommand: boolean;
  /** Calls the models' APIs itself, so it can fall back from one model to the next. */
  readonly callsModels: boolean;
  /** Offers the run's requests to the model as tools; otherwise they are commands in its shell. */
  readonly offersTools: boolean;
}

/** The programs that talk to the model inside a run. A new harness is an entry here and a loader in src/runtime/harness/run-phases.ts. */
export const harnesses = {
  pi: {
    summary: "calls the models itself",
    startsCommand: false,
    callsModels: true,
    offersTools: true,
  },
  "llm-cli": {
    summary: "uses an external command line",
    startsCommand: true,
    callsModels: false,
    offersTools: false,
  },
} satisfies Readonly<Record<string, HarnessTraits>>;

export type HarnessType = keyof typeof harnesses;
export const harnessTypes = Object.keys(harnesses) as HarnessType[];
/** Used if neither the agent nor the project names one. */
export const defaultHarness: HarnessType = "pi";

/** A program whose session another run can continue. */
interface SessionProgram {
  readonly name: string;
  /** Folder of its session files, below the run's working directory. */
  readonly folder: string;
  /** Accepts messages while it works. */
  readonly takesMessages: boolean;
  /** Compacts a session above a given number of tokens. */
  readonly compacts: boolean;
}

export const piSessionFolder = ".session";
const pi: SessionProgram = {
  name: "pi",
  folder: piSessionFolder,
  takesMessages: true,
  compacts: true,
};
const commandLines: readonly SessionProgram[] = [
  { name: "claude", folder: ".llm-cli/claude/projects", takesMessages: true, compacts: true },
  { name: "codex", folder: ".llm-cli/codex/sessions", takesMessages: false, compacts: true },
  {
    name: "gemini",
    folder: ".llm-cli/.gemini/tmp/run/chats",
    takesMessages: false,
    compacts: false,
  },
];

/** The program that keeps the sessions of a harness; null for one whose sessions end with their runs. */
export function sessionProgram(harness: {
  readonly type: HarnessType;
  readonly command: string;
}): SessionProgram | null {
  if (!harnesses[harness.type].startsCommand) return pi;
  const name = harness.command.slice(harness.command.lastIndexOf("/") + 1);
  return commandLines.find((program) => program.name === name) ?? null;
}
