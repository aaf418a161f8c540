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
  /** Keeps the session of a run that has ended, so that another run can continue it. */
  readonly keepsSession: boolean;
}

/** The programs that talk to the model inside a run. A new harness is an entry here and a loader in src/runtime/harness/run-phases.ts. */
export const harnesses = {
  pi: {
    summary: "calls the models itself",
    startsCommand: false,
    callsModels: true,
    offersTools: true,
    keepsSession: true,
  },
  "llm-cli": {
    summary: "uses an external command line",
    startsCommand: true,
    callsModels: false,
    offersTools: false,
    keepsSession: false,
  },
} satisfies Readonly<Record<string, HarnessTraits>>;

export type HarnessType = keyof typeof harnesses;
export const harnessTypes = Object.keys(harnesses) as HarnessType[];
/** Used if neither the agent nor the project names one. */
export const defaultHarness: HarnessType = "pi";
