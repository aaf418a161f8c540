import { execFile } from "node:child_process";
import { chmod, cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve, sep } from "node:path";
import type { Mutation } from "./mutations.ts";

const root = resolve(import.meta.dirname, "../..");
/** The packages are shared by a link, what is built comes along to be built anew from. */
const left = new Set(["node_modules", ".git", ".al"]);

/** How a run of tests ended: the names of those that failed, or what kept it from running. */
export interface Verdict {
  readonly failed: readonly string[];
  readonly passed: number;
}

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** A copy of the checkout as it lies there, in which anything may be broken. */
export class PrivateCopy {
  readonly dir: string;
  private constructor(dir: string) {
    this.dir = dir;
  }

  static async make(): Promise<PrivateCopy> {
    const dir = await mkdtemp(join(tmpdir(), "al-mutant-"));
    // Some tests run it as another OS user.
    await chmod(dir, 0o755);
    const filter = (path: string) =>
      !relative(root, path)
        .split(sep)
        .some((part) => left.has(part));
    // A link to a program that is built elsewhere would be built there.
    await cp(root, dir, { recursive: true, dereference: true, filter });
    await symlink(join(root, "node_modules"), join(dir, "node_modules"));
    return new PrivateCopy(dir);
  }

  remove(): Promise<void> {
    return rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Runs the tests with the file changed, and puts it back. */
  async mutated(mutation: Mutation): Promise<Verdict> {
    const path = join(this.dir, mutation.file);
    const text = await readFile(path, "utf8");
    await writeFile(
      path,
      text.replace(mutation.find, () => mutation.replace),
    );
    try {
      return await this.test(mutation);
    } finally {
      await writeFile(path, text);
    }
  }

  async test({ test, only, built }: Pick<Mutation, "test" | "only" | "built">): Promise<Verdict> {
    if (built) await this.run(process.execPath, ["src/setup/build.mjs"]);
    const report = join(this.dir, "report.json");
    const name = only === undefined ? [] : ["-t", only];
    await rm(report, { force: true });
    // One failure is enough, and the next ones may each wait for a limit.
    const options = ["--bail=1", "--reporter=json", `--outputFile=${report}`, ...name];
    const vitest = join(root, "node_modules/.bin/vitest");
    const said = await this.run(vitest, ["run", ...options, test]);
    const text = await readFile(report, "utf8").catch(() => null);
    if (text === null) throw new Error(`the tests did not run:\n${said}`);
    return verdictOf(JSON.parse(text) as Report);
  }

  private run(program: string, args: readonly string[]): Promise<string> {
    const env = { ...process.env, CI: "" };
    return new Promise((done) => {
      execFile(
        program,
        args,
        { cwd: this.dir, env, maxBuffer: 2 ** 28 },
        (_error, stdout, stderr) => done(stdout + stderr),
      );
    });
  }
}

function verdictOf({ numPassedTests, testResults }: Report): Verdict {
  const failed = testResults.flatMap(({ name, status, assertionResults }) => {
    const names = assertionResults.filter((one) => one.status === "failed");
    // A file that can't be read has no test to name.
    const whole = status === "failed" && names.length === 0 ? [name] : [];
    return [...names.map(({ fullName }) => fullName), ...whole];
  });
  return { failed, passed: numPassedTests };
}
