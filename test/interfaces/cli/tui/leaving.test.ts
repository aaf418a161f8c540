import { existsSync } from "node:fs";
import { whyNoTerminal } from "../terminal.ts";
import { test, untilLeftClean, untilRunning } from "./live-project.ts";
import { noteSkipped } from "../../../helpers/note-skipped.ts";

const ctrlC = "\u0003";

/** Loaded before al, makes every question of the live view fail. */
const brokenQuestion = `import { registerHooks } from "node:module";
registerHooks({ load: (url, context, next) => {
  const loaded = next(url, context);
  if (!url.includes("/live-view-")) return loaded;
  const source = String(loaded.source);
  const broken = source.replace(/^function questionText\\(.*$/m, '$&\\n  throw new Error("no question here");');
  if (broken === source) throw new Error("the view has no question to break");
  return { ...loaded, source: broken };
} });
`;

const noTerminal = whyNoTerminal();
noteSkipped("how the live view is left", noTerminal);

describe.skipIf(noTerminal !== null)(
  "the live view",
  { timeout: 120_000, concurrent: true },
  () => {
    test("waits for runs after Ctrl-C and names them, and stops at once after a second", async ({
      project,
    }) => {
      project.addAgent("slow", 60);
      const view = project.start();
      await view.until(/> slow +idle/);
      await untilRunning(view);
      view.type(ctrlC);
      await view.until(/Stopping \(Ctrl-C: now\): waits for 1 run: slow/);
      view.type(ctrlC);
      await untilLeftClean(view, 130);
      expect(view.screen().join("\n")).toMatch(/stopping \(SIGINT\); 1 run has 30 s to finish/);
      expect(view.screen().join("\n")).toContain("Almanac was stopped at once after");
    });

    test("closes an agent's open log on SIGTERM, and restores the terminal", async ({
      project,
    }) => {
      project.addAgent("first");
      const view = project.start();
      await view.until(/> first +idle/);
      view.type("\r");
      await view.until(/INFO {2}loaded/);
      view.signal("SIGTERM");
      await untilLeftClean(view, 0);
      expect(view.screen().join("\n")).toContain("Almanac stopped after");
    });

    test("stops in order when its terminal disappears", async ({ project, expect }) => {
      project.addAgent("first");
      const view = project.start();
      await view.until(/> first/);
      const pid = view.pid();
      view.hangUp();
      await expect.poll(() => existsSync(`/proc/${String(pid)}`)).toBe(false);
      expect(project.log("scheduler")).toContain("stopping (SIGHUP)");
      expect(project.log("scheduler")).not.toContain("broke");
    });

    test("restores the terminal after a crash, and prints the stack trace on it", async ({
      project,
    }) => {
      const code = 'process.on("SIGUSR2", () => { throw new Error("boom") });\n';
      const view = project.startWith(code);
      await view.until("al agent new");
      view.signal("SIGUSR2");
      await untilLeftClean(view, 1);
      expect(view.screen().join("\n")).toContain("Error: boom");
    });

    test("ends after an internal error, while the scheduler continues", async ({ project }) => {
      project.addAgent("first");
      const view = project.startWith(brokenQuestion);
      await view.until(/> first +idle/);
      view.type("r");
      await view.until("the live view broke (no question here); the scheduler continues");
      project.addAgent("second");
      await view.until(/INFO {2}second loaded/);
      view.type(ctrlC);
      await view.until("stopping; Ctrl-C again stops now");
      await untilLeftClean(view, 0);
    });
  },
);
