import { momentText } from "../../../foundation/contracts/format.ts";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { infoPath } from "../../../foundation/store/project-lock.ts";
import { alCommand, finding, note, ofError, ok, type Check, type Finding } from "../finding.ts";
import type { DoctorContext } from "../doctor-context.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import { createServer, type AddressInfo } from "node:net";
import { exposureAt } from "../../gateway/listener.ts";
import { messageOf } from "../../../foundation/errors.ts";

/** Whether a scheduler runs, or left files behind. */
export const scheduler: Check = ({ projectDir, scheduler: living, lockProblem }: DoctorContext) => {
  if (living !== null)
    return [ok(`pid ${living.pid}, since ${momentText(Date.parse(living.startedAt))}`)];
  return lockProblem === null ? stale(projectDir) : [unclear(projectDir, lockProblem)];
};

/** A lock that can't be opened may be held by a live scheduler. */
function unclear(projectDir: string, problem: unknown): Finding {
  const path = join(projectDir, ".al", "run", "lock.db");
  const fix = `make it readable and writable: ls -l ${shellWord(path)}`;
  const { what: text } = ofError(problem, "error", path);
  return finding("error", `it is unknown whether a scheduler runs (${text})`, path, fix);
}

/** The fields used here. */
const tracesSchema = z.object({
  pid: z.int(),
  startedAt: z.iso.datetime(),
  socketPath: z.string().nullable(),
});

/** A scheduler that stops removes its file. */
function stale(projectDir: string): Finding[] {
  const path = infoPath(projectDir);
  const traces = tracesIn(path);
  if (traces === null) return [];
  const { pid, startedAt, socketPath } = traces;
  const folder = socketPath === null ? null : dirname(socketPath);
  // A file's content must not choose the path to remove.
  const isItsOwn =
    folder !== null &&
    [tmpdir(), "/tmp"].includes(dirname(folder)) &&
    /^al-\w+$/.test(basename(folder));
  const left = [...(isItsOwn ? [folder] : []), path].map(shellWord).join(" ");
  return [
    finding(
      "warning",
      `the scheduler with pid ${pid}, since ${momentText(Date.parse(startedAt))}, ended without a stop; the next one resumes its work`,
      path,
      `rm -rf ${left}`,
    ),
  ];
}

function tracesIn(path: string): z.infer<typeof tracesSchema> | null {
  try {
    return tracesSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    // The file is missing or damaged; the next scheduler writes it anew.
    return null;
  }
}

/** Whether the gateway's port is free, or this project's own scheduler listens on it. */
export const port: Check = async (context) => {
  const { project, scheduler } = context;
  if (project === null) return [];
  if (scheduler !== null) {
    const { pid, gatewayUrl } = scheduler;
    return [ok(`the scheduler (pid ${pid}) listens at ${gatewayUrl ?? "its Unix socket only"}`)];
  }
  const { host, port: number } = project.gateway;
  const code = await whyTaken(host, number);
  const state = code === null ? ok(`${host} port ${number} is free`) : await taken(context, code);
  return [state, ...reachable(host)];
};

async function taken(context: DoctorContext, code: string): Promise<Finding> {
  const { host = "", port: number = 0 } = context.project?.gateway ?? {};
  const where = "config.toml [gateway]";
  if (code !== "EADDRINUSE" && code !== "EACCES") {
    const fix = alCommand(context, "config --set gateway.host=127.0.0.1");
    const text = `this machine can't listen at ${host} (${code})`;
    return finding("error", text, where, fix);
  }
  const why = code === "EACCES" ? "needs more rights" : "is in use by another program";
  const text = `port ${number} of ${host} ${why}`;
  const fix = alCommand(context, `config --set gateway.port=${await listen(host, 0)}`);
  return finding("error", text, where, fix);
}

/** The error's code when no program can listen there; null when it works. */
async function whyTaken(host: string, number: number): Promise<string | null> {
  try {
    await listen(host, number);
    return null;
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : messageOf(error);
  }
}

/** Listens for a moment; resolves to the port, where 0 was any that is free. */
function listen(host: string, number: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host, port: number, exclusive: true }, () => {
      const { port: used } = server.address() as AddressInfo;
      server.close(() => resolve(used));
    });
  });
}

function reachable(host: string): Finding[] {
  const exposure = exposureAt(host);
  return exposure === null ? [] : [note(exposure.problem, exposure.advice)];
}
