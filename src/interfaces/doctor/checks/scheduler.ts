import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { infoPath } from "../../../foundation/store/scheduler-info.ts";
import type { Check, Finding } from "../finding.ts";
import { ofError, ok } from "../finding.ts";
import type { DoctorContext } from "../doctor-context.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";

/** Whether a scheduler runs, and whether one that doesn't left its traces. */
export const scheduler: Check = {
  name: "scheduler",
  run: ({ projectDir, scheduler: living, lockProblem }: DoctorContext) => {
    if (living !== null) return [ok(`pid ${living.pid}, since ${living.startedAt}`)];
    return lockProblem === null ? stale(projectDir) : [unclear(projectDir, lockProblem)];
  },
};

/** A lock that can't be opened may be held by a live scheduler. */
function unclear(projectDir: string, problem: unknown): Finding {
  const path = join(projectDir, ".al", "run", "lock.db");
  const fix = `make it readable and writable: ls -l ${shellWord(path)}`;
  const { what } = ofError(problem, "error", path);
  return {
    severity: "error",
    what: `it is unknown whether a scheduler runs (${what})`,
    where: path,
    fix,
  };
}

/** As far as it is needed here. */
const tracesSchema = z.object({
  pid: z.int(),
  startedAt: z.string(),
  socketPath: z.string().nullable(),
});

/** One that stops takes its file along. */
function stale(projectDir: string): Finding[] {
  const path = infoPath(projectDir);
  const traces = tracesIn(path);
  if (traces === null) return [];
  const { pid, startedAt, socketPath } = traces;
  const folder = socketPath === null ? null : dirname(socketPath);
  // A file's content must not choose what is removed.
  const isItsOwn =
    folder !== null &&
    [tmpdir(), "/tmp"].includes(dirname(folder)) &&
    /^al-\w+$/.test(basename(folder));
  const left = [...(isItsOwn ? [folder] : []), path].map(shellWord).join(" ");
  return [
    {
      severity: "warning",
      what: `the scheduler with pid ${pid}, since ${startedAt}, ended without a stop; the next one takes up its work`,
      where: path,
      fix: `rm -rf ${left}`,
    },
  ];
}

function tracesIn(path: string): z.infer<typeof tracesSchema> | null {
  try {
    return tracesSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    // There is none, or the next scheduler writes it anew.
    return null;
  }
}
