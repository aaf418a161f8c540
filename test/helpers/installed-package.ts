import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

/**
 * The package as a user gets it: packed, and installed by npm into a folder with nothing beside it. Import this before the
 * other helpers: what they start is the program in that folder, from then on.
 */
const folder = mkdtempSync(join(tmpdir(), "al-packed-"));
const prefix = join(folder, "prefix");

/** Nothing is built here: the build of the tests is what is packed. */
function pack(): { readonly filename: string; readonly files: readonly { path: string }[] } {
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const cwd = resolve(import.meta.dirname, "../..");
  const [packed] = JSON.parse(execFileSync("npm", args, { cwd, encoding: "utf8" })) as [
    ReturnType<typeof pack>,
  ];
  return packed;
}

/** From the tarball alone, with the Node of the tests; everything that npm prints. */
function install(tarball: string): string {
  const PATH = `${dirname(process.execPath)}:${process.env.PATH ?? ""}`;
  const command = `npm install --global --prefix ${prefix} --offline --no-update-notifier ${tarball} 2>&1`;
  // The settings of an npm that runs the tests, such as its log level, are not a user's.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("npm_"));
  const env = { ...Object.fromEntries(own), PATH };
  return execFileSync("sh", ["-c", command], { encoding: "utf8", env });
}

const { filename, files } = pack();
const output = install(join(folder, filename));
process.env.AL_TEST_PROGRAM = join(prefix, "lib/node_modules/almanac/dist/src/cli/al.js");

export const installedPackage = {
  folder,
  prefix,
  /** Paths of the files in the tarball. */
  files: files.map(({ path }) => path),
  /** The output of npm. */
  output,
  remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
};

/** A newcomer's environment: the installed command and a Node first. */
export function environment(nodeDir: string): NodeJS.ProcessEnv {
  const PATH = [join(prefix, "bin"), nodeDir, "/usr/bin", "/bin"].join(":");
  return { PATH, HOME: join(folder, "home"), AL_HOME: join(folder, "al-home"), NO_COLOR: "1" };
}

/** Resolves once the scheduler says that it runs. Another port: the usual one may be in use here. */
export async function inBackground(command: string, cwd: string, env: NodeJS.ProcessEnv) {
  const line = `exec ${command} --port 0`;
  const child = spawn("/bin/sh", ["-c", line], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise<number | null>((done) => child.once("close", done));
  let output = "";
  await new Promise<void>((ready, fail) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (output.includes("API key:")) ready();
    });
    child.once("close", () => fail(new Error(`the scheduler ended: ${output}`)));
  });
  return { ended };
}
