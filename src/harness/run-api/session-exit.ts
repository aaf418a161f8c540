/** How an agent ends its run by itself. */
export interface SessionExit {
  /** A new part of the run begins; the signal aborts when the agent asks to end. */
  begin(): AbortSignal;
  /** The exit code that was asked for in this part; null when none was. */
  code(): number | null;
  /** Ends what runs. The first code counts. */
  ask(code: number): void;
}

/** So that who asked still gets its answer, in ms. */
const answerMs = 50;

export function createSessionExit(): SessionExit {
  let part = new AbortController();
  let asked: number | null = null;
  return {
    begin: () => {
      part = new AbortController();
      asked = null;
      return part.signal;
    },
    code: () => asked,
    ask: (code) => {
      if (asked !== null) return;
      asked = code;
      const current = part;
      setTimeout(() => current.abort(), answerMs);
    },
  };
}
