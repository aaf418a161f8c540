import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test as base } from "vitest";
import { makeFolders } from "../fake-operator.ts";
import { emulate, type Emulator, type EmulatorOptions } from "./emulator.ts";

const models = '[models.scripted]\nprovider = "scripted"\nscript = "s.toml"\n';

/** Tests with a project that is run on emulated terminals; they may run at the same time. */
export const test = base.extend<{ project: ReturnType<typeof makeLiveProject> }>({
  project: async ({}, use) => {
    const project = makeLiveProject();
    await use(project);
    project.remove();
  },
});

function makeLiveProject() {
  const folders = makeFolders();
  const { projectDir: dir, home } = folders;
  const started: Emulator[] = [];
  const write = (path: string, text: string): void => {
    mkdirSync(join(dir, path, ".."), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  write("config.toml", models);
  return {
    dir,
    write,
    /** An agent whose run says something and then waits, `seconds` long. */
    addAgent: (name: string, seconds = 0, schedule = "0 9 1 1 *") => {
      for (const [path, text] of agentFiles(name, seconds, schedule)) write(path, text);
    },
    /** What was logged of an agent, or of the scheduler. */
    log: (name: string) => {
      const logs = join(dir, ".al/logs");
      // Before the first line there is no folder.
      const names = existsSync(logs) ? readdirSync(logs) : [];
      const files = names.filter((file) => file.startsWith(`${name}-2`));
      return files.map((file) => readFileSync(join(logs, file), "utf8")).join("");
    },
    /** `al start` on a terminal of its own. */
    start: (args: readonly string[] = [], options: Partial<EmulatorOptions> = {}) => {
      const env = { HOME: home, AL_HOME: home, ...options.env };
      const emulator = emulate(["start", "-p", dir, ...args], { ...options, env });
      started.push(emulator);
      return emulator;
    },
    /** Ends whatever still runs. */
    remove: () => {
      for (const emulator of started) end(emulator);
      folders.remove();
    },
  };
}

function agentFiles(name: string, seconds: number, schedule: string): [string, string][] {
  const runtime = '[runtime]\ntype = "host-user"\nrun_as = "$USER"\n';
  const config = `models = ["scripted"]\ncredentials = []\nschedule = "${schedule}"\n${runtime}`;
  const tools = [
    ["al_status", 'text = "状態 at work"'],
    ["bash", `command = "seq 1 5; sleep ${seconds}"`],
  ].map(([tool = "", given = ""]) => {
    return `[[turns.tools]]\nname = "${tool}"\narguments = { ${given} }\n`;
  });
  const script = `[[turns]]\ntext = "Good day"\n${tools.join("")}[[turns]]\ntext = "Done"\n`;
  return [
    ["s.toml", script],
    [`agents/${name}/SKILL.md`, `---\nname: ${name}\n---\nWork.\n`],
    [`agents/${name}/config.toml`, config],
  ];
}

function end(emulator: Emulator): void {
  emulator.signal("SIGKILL");
  emulator.hangUp();
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
