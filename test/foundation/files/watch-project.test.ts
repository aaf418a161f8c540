import { EventEmitter } from "node:events";
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { pause } from "../../helpers/pause.ts";
import { watch } from "chokidar";
import { merge } from "rxjs";
import { repairScans } from "../../../src/foundation/files/scan.ts";
import { watchProject } from "../../../src/foundation/files/watch-project.ts";
import { addAgent, tempProject, watching, write } from "./support.ts";

const config = "agents/dev/config.toml";

test("the file watcher reports a changed config.toml, and ignores files that the scheduler does not read", async () => {
  const project = tempProject();
  const { touched } = await watching(watchProject(project));
  for (const path of [
    ".al/state.db",
    ".git/index",
    "node_modules/x/config.toml",
    "agents/dev/notes.md",
  ]) {
    write(join(project, path), "x");
  }
  write(join(project, config), "changed");
  await expect.poll(touched).toEqual(new Set([config]));
  write(join(project, "config.toml"), "changed");
  await expect.poll(touched).toEqual(new Set([config, "config.toml"]));
  write(join(project, "holidays.ics"), "changed");
  await expect.poll(touched).toEqual(new Set([config, "config.toml", "holidays.ics"]));
});

test("the file watcher reports a file that an agent's Dockerfile may copy as a change of the Dockerfile", async () => {
  const project = tempProject();
  const [dir, dockerfile] = [join(project, "agents/dev"), "agents/dev/Dockerfile"];
  write(join(dir, "lib/deep/setup.sh"), "echo 1");
  write(join(dir, "Dockerfile"), "FROM al-agent:latest\n");
  const { touched, forget } = await watching(watchProject(project));
  for (const path of ["lib/deep/setup.sh", "setup.sh", "new/of/a/tree.sh"]) {
    forget();
    write(join(dir, path), "echo 2");
    await expect.poll(touched).toEqual(new Set([dockerfile]));
  }
});

test("once an agent gets a Dockerfile, the file watcher also detects changes in folders that existed before", async () => {
  const project = tempProject();
  const [dir, dockerfile] = [join(project, "agents/dev"), "agents/dev/Dockerfile"];
  write(join(dir, "lib/setup.sh"), "echo 1");
  const { touched, touches } = await watching(watchProject(project));
  write(join(dir, "Dockerfile"), "FROM al-agent:latest\n");
  await expect.poll(touched).toEqual(new Set([dockerfile]));
  const before = touches(dockerfile);
  // The folder is watched from some moment after that on.
  const touchedByFolder = () => {
    write(join(dir, "lib/setup.sh"), "echo 2");
    return touches(dockerfile) - before;
  };
  await expect.poll(touchedByFolder, { interval: 100 }).toBeGreaterThan(1);
  expect(touched()).toEqual(new Set([dockerfile]));
});

test("the file watcher reports added and removed agents, and a file that is written later", async () => {
  const project = tempProject();
  const { touched, forget } = await watching(watchProject(project));
  mkdirSync(join(project, "agents/new"));
  await expect.poll(touched).toContain("agents/new");
  await pause(100, "the directory is read before its file is written");
  write(join(project, "agents/new/config.toml"), "x");
  await expect.poll(touched).toContain("agents/new/config.toml");
  forget();
  rmSync(join(project, "agents/new"), { recursive: true });
  await expect.poll(touched).toContain("agents/new");
});

test("the file watcher detects an agents directory and a config.toml that are created later", async () => {
  const project = tempProject([]);
  unlinkSync(join(project, "config.toml"));
  const { touched } = await watching(watchProject(project));
  addAgent(project, "first");
  write(join(project, "config.toml"), "x");
  const both = ["agents/first/config.toml", "agents/first/SKILL.md", "config.toml"];
  await expect.poll(touched).toEqual(expect.objectContaining({ size: 5 }));
  for (const path of both) expect(touched()).toContain(path);
});

test("periodic scans detect that a linked agent has a new target", async () => {
  const project = tempProject();
  const agents = join(project, "agents");
  const everything = merge(watchProject(project), repairScans(project, { everyMs: 50 }));
  const { events, touched, forget } = await watching(everything);
  await expect.poll(() => events.filter(({ type }) => type === "ready").length).toBe(2);
  renameSync(join(agents, "dev"), join(project, "one"));
  mkdirSync(join(project, "two"));
  write(join(project, "two/config.toml"), "of the other");
  symlinkSync(join(project, "one"), join(agents, "dev"));
  await pause(300, "a scan finds the link");
  unlinkSync(join(agents, "dev"));
  symlinkSync(join(project, "two"), join(agents, "dev"));
  await pause(300, "a scan finds the link's new target");
  forget();
  write(join(project, "two/config.toml"), "changed in the other");
  await expect.poll(touched).toContain(config);
});

/** chokidar's watcher as far as it is used, that says what a test tells it to. */
class FakeWatcher extends EventEmitter {
  closed = false;
  add = (): unknown => this;
  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}

test.each(["ENOSPC", "EMFILE"])(
  "the file watcher warns and polls if the system allows no more watches (%s)",
  async (code) => {
    const project = tempProject();
    const broken = new FakeWatcher();
    let opened = 0;
    const watched = watching(
      watchProject(project, {
        pollEveryMs: 50,
        open: (dir, options) => (opened++ === 0 ? broken : watch(dir, options)),
      }),
    );
    broken.emit("error", Object.assign(new Error(`${code}: no more watches`), { code }));
    const { events, touched } = await watched;
    expect(events[0]).toMatchObject({
      type: "warning",
      message: expect.stringContaining(code) as string,
    });
    expect(broken.closed).toBe(true);
    write(join(project, config), "changed while polling");
    await expect.poll(touched).toContain(config);
  },
);

test("an unknown error of the file watcher is logged as a warning, and watching continues", async () => {
  const fake = new FakeWatcher();
  const watched = watching(watchProject("/p", { open: () => fake }));
  fake.emit("ready");
  fake.emit("error", new Error("odd"));
  fake.emit("all", "change", "/p/config.toml");
  const { events } = await watched;
  expect(events).toEqual([
    { type: "ready" },
    { type: "warning", message: "watching files: odd" },
    { type: "touched", path: "config.toml" },
  ]);
});

test("unsubscribing closes the file watcher, and subscribing again opens a new one", () => {
  const fakes: FakeWatcher[] = [];
  const source = watchProject("/p", {
    open: () => {
      const fake = new FakeWatcher();
      fakes.push(fake);
      return fake;
    },
  });
  expect(fakes).toHaveLength(0);
  for (let i = 0; i < 2; i++) source.subscribe().unsubscribe();
  expect(fakes.map(({ closed }) => closed)).toEqual([true, true]);
});
