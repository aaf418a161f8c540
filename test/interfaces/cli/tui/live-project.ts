import { globSync, readFileSync } from "node:fs";
import { test as base } from "vitest";
import { makeFolders, scriptedModel } from "../fake-operator.ts";
import { emulate, type Emulator, type EmulatorOptions } from "./emulator.ts";

/** Tests with a project that is run on emulated terminals; they may run at the same time. */
export const test = base.extend<{ project: ReturnType<typeof makeLiveProject> }>({
  project: async ({}, use) => {
    const project = makeLiveProject();
    await use(project);
    await project.remove();
  },
});

/** A run says something, and then waits. */
const script = (seconds: number) => `[[turns]]
text = "Good day"
[[turns.tools]]
name = "al_status"
arguments = { text = "状態 at work" }
[[turns.tools]]
name = "bash"
arguments = { command = "seq 1 5; sleep ${seconds}" }
[[turns]]
text = "Done"
`;

function makeLiveProject() {
  const folders = makeFolders();
  const { projectDir: dir, home } = folders;
  const started: Emulator[] = [];
  const write = (path: string, text: string) => folders.write(path, text);
  write("config.toml", scriptedModel);
  /** `al start` on a terminal of its own. */
  const start = (options: Partial<EmulatorOptions> = {}) => {
    const env = { HOME: home, AL_HOME: home, ...options.env };
    const emulator = emulate(["start", "-p", dir], { ...options, env });
    started.push(emulator);
    return emulator;
  };
  return {
    dir,
    write,
    /** An agent whose run, like those of all others from now on, takes `seconds`. */
    addAgent: (name: string, seconds = 0) => {
      write("main.script.toml", script(seconds));
      const runtime = '[runtime]\ntype = "host-user"\nrun_as = "$USER"';
      folders.addAgent(name, `schedule = "0 9 1 1 *"\n${runtime}`);
    },
    /** The log of an agent or of the scheduler; empty before its first line. */
    log: (name: string) =>
      globSync(`${dir}/.al/logs/${name}-2*`)
        .map((file) => readFileSync(file, "utf8"))
        .join(""),
    start,
    /** The same after this code has run in its process. */
    startWith: (code: string) =>
      start({ env: { NODE_OPTIONS: `--import=${write("preloaded.mjs", code)}` } }),
    /** Ends whatever still runs. */
    remove: () => {
      for (const emulator of started) {
        emulator.signal("SIGKILL");
        emulator.hangUp();
      }
      return folders.remove();
    },
  };
}

/** The terminal as the shell gets it back: its own screen, cooked, with a cursor and wrapped lines. */
export async function untilLeftClean(emulator: Emulator, exitCode: number): Promise<void> {
  await emulator.until(new RegExp(`^exit ${exitCode}\\n[^]*^icanon`, "m"));
  expect(emulator.isAlternate()).toBe(false);
  const raw = emulator.raw();
  const lastOf = (mode: string): string | undefined => {
    const at = raw.lastIndexOf(`\u001b[?${mode}`);
    return raw.charAt(at + mode.length + 3);
  };
  // Cursor, wrapped lines, pasted text as it comes.
  expect(["25", "7", "2004"].map(lastOf)).toEqual(["h", "h", "l"]);
}

/** Starts a run of the selected agent, `slow`, and waits until its model has spoken. */
export async function untilRunning(emulator: Emulator): Promise<void> {
  emulator.type("ry");
  await emulator.until(/> slow +running +状態 at work/);
}
