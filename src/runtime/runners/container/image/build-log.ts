/** One step of a Dockerfile as a build reports it. */
export interface BuildStep {
  /** `3/9`. */
  readonly position: string;
  /** `RUN apt-get update`, on one line. */
  readonly instruction: string;
  /** The user that its command runs as, as far as the Dockerfile names one: null for the base image's own. */
  readonly user: string | null;
}

/** What a build has printed so far, as far as its failure needs it. */
export interface BuildLog {
  /** Takes a piece of output as the engine sends it; gives the steps that begin in it. */
  add(piece: string): readonly BuildStep[];
  /** The step that runs; null before the first. */
  step(): BuildStep | null;
  /** The last lines of that step's command: those on standard error, where the engine marks them. */
  lines(): readonly string[];
}

/** The engine colors what came over standard error; a line may come in pieces. */
const stderrMark = "\u001b[91m";
/** Lines that begin a step: `Step 3/9 : COPY …`, Podman's `STEP 3/9: COPY …`. */
const stepLine = /^step (\d+\/\d+) ?: ?(.+)/i;
/** The engine's own lines. */
const ownLine = /^(--->|-->|Removing intermediate container )/;
const keptLines = 5;
const longestLine = 200;

export function createBuildLog(): BuildLog {
  let step: BuildStep | null = null;
  const open = { out: "", err: "" };
  const closed: { out: string[]; err: string[] } = { out: [], err: [] };
  const close = (text: string, stream: "out" | "err"): BuildStep[] => {
    const line = onOneLine(text);
    const [, position, instruction] = stream === "out" ? (stepLine.exec(line) ?? []) : [];
    if (position === undefined || instruction === undefined) {
      if (line !== "" && !ownLine.test(line)) keep(closed[stream], line);
      return [];
    }
    step = { position, instruction, user: userOf(instruction, step) };
    closed.out = [];
    closed.err = [];
    return [step];
  };
  return {
    add: (piece) => {
      const stream = piece.includes(stderrMark) ? "err" : "out";
      const parts = (open[stream] + withoutColors(piece)).split(/[\r\n]+/);
      open[stream] = parts.pop() ?? "";
      return parts.flatMap((text) => close(text, stream));
    },
    step: () => step,
    lines: () => {
      for (const stream of ["out", "err"] as const) {
        close(open[stream], stream);
        open[stream] = "";
      }
      return closed.err.length > 0 ? closed.err : closed.out;
    },
  };
}

function keep(lines: string[], line: string): void {
  lines.push(line.slice(0, longestLine));
  if (lines.length > keptLines) lines.shift();
}

function userOf(instruction: string, before: BuildStep | null): string | null {
  const [, name = "", argument = ""] = /^(\S+)\s*(.*)/.exec(instruction) ?? [];
  if (name.toUpperCase() === "FROM") return null;
  return name.toUpperCase() === "USER" ? argument : (before?.user ?? null);
}

function onOneLine(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}

function withoutColors(text: string): string {
  return text.replace(/\u001b\[[0-9;]*m/g, "");
}
