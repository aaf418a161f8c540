import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { mkdtempSync } from "node:fs";
import { dirname, join } from "node:path";
import type { HistoryEntry, HistoryPage } from "../../src/foundation/contracts/history.ts";
import type { AgentStatus, StatusSnapshot } from "../../streams/status/wire.ts";
import type { LogEntry } from "../../streams/vocabulary.ts";
import { createLogSource } from "../../src/foundation/logs/log-source.ts";
import { copyProject, runAl, startTestScheduler } from "./scheduler.ts";
import type { Finished, SchedulerOptions, TestProject, TestScheduler } from "./scheduler.ts";
import { pause } from "./pause.ts";

let endsOfFile: (() => Promise<void>)[] | null = null;

/** Sets up what all tests of a file, or of a `describe`, share: live projects made in `setUp` end with the last of them. */
export function forAll(setUp: () => Promise<unknown>, timeout?: number): void {
  beforeAll(async () => {
    const ends: (() => Promise<void>)[] = (endsOfFile = []);
    const end = async (): Promise<void> => {
      for (const one of ends.reverse()) await one();
    };
    await setUp()
      .catch((error: unknown) => end().then(() => Promise.reject(error as Error)))
      .finally(() => (endsOfFile = null));
    return end;
  }, timeout);
}

/** How long a test waits for a run, and how often it looks, in ms: it is one of many programs on a busy machine. */
export const slowly = { timeout: 60_000, interval: 200 };

/** A project and the built program on it, as a user starts it. Both end with the test. */
export class LiveProject implements TestProject {
  readonly dir: string;
  readonly home: string;
  readonly #files: TestProject;
  #scheduler: TestScheduler | null = null;

  constructor(files: TestProject) {
    [this.#files, this.dir, this.home] = [files, files.dir, files.home];
    if (endsOfFile === null) onTestFinished(() => this.remove());
    else endsOfFile.push(() => this.remove());
  }

  /** A copy of an example. */
  static async copy(example: string): Promise<LiveProject> {
    return new LiveProject(await copyProject(example));
  }

  /** A copy of examples/hello whose agent runs when it is started by hand, at no other time. */
  static async hello(): Promise<LiveProject> {
    const project = await LiveProject.copy("examples/hello");
    await project.edit("agents/hello/config.toml", /^schedule = .*$/m, 'schedule = "0 0 29 2 *"');
    return project;
  }

  /** A project of these files, by their paths below the folder that has the `project` and its `home`. */
  static async of(files: Readonly<Record<string, string>>): Promise<LiveProject> {
    const folder = mkdtempSync(join(tmpdir(), "al-live-"));
    const project = new LiveProject({
      dir: join(folder, "project"),
      home: join(folder, "home"),
      remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
    });
    for (const [path, text] of Object.entries(files)) await project.write(`../${path}`, text);
    return project;
  }

  /** The scheduler that was started last. */
  get scheduler(): TestScheduler {
    if (this.#scheduler === null) throw new Error("the test has not started a scheduler");
    return this.#scheduler;
  }

  async start(options?: SchedulerOptions): Promise<TestScheduler> {
    return (this.#scheduler = await startTestScheduler(this, options));
  }

  /** kill -9 of the scheduler, and a new one. */
  async crash(options?: SchedulerOptions): Promise<TestScheduler> {
    await this.scheduler.kill();
    return this.start(options);
  }

  async remove(): Promise<void> {
    await this.#end();
    await this.#files.remove();
  }

  /** Interrupts it once, and a second time if runs keep it. */
  async #end(): Promise<void> {
    if (this.#scheduler === null) return;
    const { exited, signal } = this.#scheduler;
    for (let at = 0; at < 20; at += 1) {
      signal("SIGINT");
      if (
        (await Promise.race([
          exited,
          pause(1_000, "runs may keep it: it is interrupted again", null),
        ])) !== null
      )
        return;
    }
    signal("SIGKILL");
    await exited;
  }

  /** Runs a command of `al` to its end. */
  al(...args: readonly string[]): Promise<Finished> {
    return runAl(this, args);
  }

  /** Output of a command that succeeds. */
  async print(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.al(...args);
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    return stdout;
  }

  path(path: string): string {
    return join(this.dir, path);
  }

  read(path: string): Promise<string> {
    return readFile(this.path(path), "utf8");
  }

  /** Writes a file that only its owner reads, as credentials have to be. */
  async write(path: string, text: string, mode = 0o600): Promise<void> {
    await mkdir(dirname(this.path(path)), { recursive: true, mode: 0o700 });
    await writeFile(this.path(path), text, { mode });
  }

  /** Stores fields of the default credential of a type. */
  async store(type: string, fields: Readonly<Record<string, string>>): Promise<void> {
    for (const [field, secret] of Object.entries(fields))
      await this.write(join("../home/credentials", type, "default", field), secret);
  }

  /** Replaces a text that is in the file. */
  async edit(path: string, from: string | RegExp, to: string): Promise<void> {
    const [text, changed] = [await this.read(path), (await this.read(path)).replace(from, to)];
    if (text === changed) throw new Error(`${path} has no ${String(from)}`);
    await writeFile(this.path(path), changed);
  }

  async append(path: string, text: string): Promise<void> {
    await writeFile(this.path(path), (await this.read(path)) + text);
  }

  async json<T>(path: string, init?: RequestInit): Promise<T> {
    return (await (await this.scheduler.api(path, init)).json()) as T;
  }

  post(path: string, body?: object): Promise<Response> {
    const json = { "content-type": "application/json" };
    const init = body === undefined ? {} : { headers: json, body: JSON.stringify(body) };
    return this.scheduler.api(path, { method: "POST", ...init });
  }

  /** Starts agents by hand; statuses of the responses. */
  async trigger(...agents: readonly string[]): Promise<readonly number[]> {
    const responses = agents.map((agent) => this.post(`/control/trigger/${agent}`));
    return (await Promise.all(responses)).map(({ status }) => status);
  }

  status(): Promise<StatusSnapshot> {
    return this.json("/control/status");
  }

  async agent(name: string): Promise<AgentStatus | undefined> {
    return (await this.status()).agents.find((one) => one.name === name);
  }

  /** The latest first. */
  async history(query = ""): Promise<readonly HistoryEntry[]> {
    return (await this.json<HistoryPage>(`/api/stats/triggers?${query}`)).triggers;
  }

  /** The latest run of an agent that was started by a trigger of this kind. */
  async latest(
    agent: string,
    kind: HistoryEntry["kind"] = "manual",
  ): Promise<HistoryEntry | undefined> {
    return (await this.history(`agent=${agent}&kind=${kind}`))[0];
  }

  /** The lines of one kind in the agent's log. */
  async entries(agent: string, kind: string): Promise<readonly LogEntry[]> {
    const query = { agent, instanceId: null, lines: 1_000, after: null };
    const lines = await createLogSource(this.dir).read(query);
    return lines.map(({ entry }) => entry).filter((entry) => entry.kind === kind);
  }

  /** Their messages. */
  async messages(agent: string, kind: string): Promise<readonly string[]> {
    return (await this.entries(agent, kind)).map(({ msg }) => msg);
  }
}
