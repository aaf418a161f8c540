import { spawn } from "node:child_process";
import { isatty } from "node:tty";

/** Whether the system knows the program. */
export async function isProgram(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { code } = await run("sh", ["-c", 'command -v "$0"', name], withSystemPath(env));
  return code === 0;
}

export async function userExists(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { code } = await run("id", ["-u", "--", name], env);
  return code === 0;
}

/** Whether this process is root's, which needs no sudo and no rule. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * Runs a program as root: directly, or through sudo, which may ask for a password on a terminal and not elsewhere.
 * Rejects with its output.
 */
export async function asRoot(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const ask = isatty(0) && isatty(2) ? [] : ["-n"];
  const [file, rest] = isRoot()
    ? [program, args]
    : (["sudo", [...ask, "--", program, ...args]] as const);
  const { code, output } = await run(file, rest, withSystemPath(env));
  if (code === 0) return;
  const command = [program, ...args].join(" ");
  const who = isRoot() ? command : `sudo ${command}`;
  throw new Error(`${who} failed: ${output.trim() || `exit code ${code ?? "none"}`}`);
}

/** What root's own programs are in is on no ordinary user's path. */
function withSystemPath(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, PATH: `${env.PATH ?? ""}:/usr/sbin:/sbin` };
}

const maxOutput = 2000;

function run(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    // sudo asks for a password on the terminal itself; standard output is for data.
    const child = spawn(file, args, { env, stdio: ["inherit", "pipe", "pipe"] });
    let output = "";
    const append = (text: string) => (output = (output + text).slice(-maxOutput));
    child.stdout.setEncoding("utf8").on("data", append);
    child.stderr.setEncoding("utf8").on("data", append);
    child.once("error", (error) => resolve({ code: null, output: error.message }));
    child.once("close", (code) => resolve({ code, output }));
  });
}
