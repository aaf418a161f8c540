import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { widthOf } from "../../../../src/interfaces/cli/terminal/fit.ts";
import { whyNoTerminal } from "../terminal.ts";
import { test, untilLeftClean, untilRunning } from "./live-project.ts";
import { noteSkipped } from "../../../helpers/note-skipped.ts";

/** Acts and agents of the audit trail. */
function actsAtTerminal(projectDir: string): readonly string[] {
  const db = new DatabaseSync(join(projectDir, ".al/state.db"), { readOnly: true });
  const terminal = "person ->> 'via' = 'terminal'";
  const rows = db.prepare(`SELECT act, agent FROM audit WHERE ${terminal} ORDER BY seq`).all();
  db.close();
  return rows.map(({ act, agent }) => `${String(act)} ${String(agent)}`);
}

const [down, pageDown] = ["\u001b[B", "\u001b[6~"];

const noTerminal = whyNoTerminal();
noteSkipped("the live view", noTerminal);

describe.skipIf(noTerminal !== null)(
  "al start on a terminal",
  { timeout: 120_000, concurrent: true },
  () => {
    test("names the first step for an empty project, and shows the first agent", async ({
      project,
    }) => {
      const view = project.start({ env: { NO_COLOR: "1" } });
      await view.until("al agent new");
      expect(view.isAlternate()).toBe(true);
      project.addAgent("first");
      await view.until(/> first +idle/);
      expect(view.raw()).not.toMatch(/\u001b\[(3|4|9|10)\d(;\d+)*m/);
      view.type("q");
      await view.until("Almanac stopped after");
      await untilLeftClean(view, 0);
      expect(view.screen().join("\n")).toMatch(/INFO {2}scheduler stopping \(q\)/);
    });

    test("runs, follows, pauses and ends the selected agent by keys, but not by pasted text", async ({
      project,
    }) => {
      project.addAgent("quick");
      project.addAgent("slow", 60);
      const view = project.start();
      await view.until(/> quick +idle/);
      view.type("\u001b[200~ryq\u001b[201~K");
      await view.until("quick: no run is running");
      view.type(down);
      await view.until(/> slow +idle/);
      await untilRunning(view);
      view.type("\r");
      await view.until(/bash: seq 1 5/);
      await view.until(/bash: seq 1 5[^]*^Ctrl-C or q: back$/m);
      expect(view.isAlternate()).toBe(false);
      view.type(`pKl${down}q`);
      await view.until(/> slow +running/);
      expect(view.isAlternate()).toBe(true);
      view.type("p");
      await view.until("Pause all schedules?");
      view.type("y");
      await view.until(/project · schedules paused/);
      view.type("p");
      await view.until(/project · 2 agents/);
      view.type("K");
      await view.until("End the run of slow? y/n");
      view.type("n");
      await view.until(/> slow +running/);
      view.type("xy");
      await view.until(/> slow +idle/);
      expect(project.log("quick")).not.toContain("manually");
      view.type("q");
      await untilLeftClean(view, 0);
      const acts = ["trigger slow", "pause null", "resume null", "kill slow", "stop null"];
      expect(actsAtTerminal(project.dir)).toEqual(acts);
    });

    test("fits every size, also while it is resized", async ({ project }) => {
      for (let index = 10; index < 60; index++) project.addAgent(`agent-${index}`);
      const view = project.start({ columns: 80, rows: 24 });
      await view.until(/> agent-10[^]*^ {2}… \d+ more/m);
      view.type("/-3");
      await view.until(/> agent-30[^]*agent-39[^]*^\/-3_/m);
      view.type("\u001b");
      await view.until(/> agent-10/);
      view.type(pageDown.repeat(3));
      await view.until(/> agent-59/);
      for (const [columns, rows] of [
        [60, 10],
        [200, 50],
        [72, 7],
        [100, 30],
      ] as const) {
        view.resize(columns, rows);
        await view.until(/^project · 50 agents[^]*> agent-59[^]*q quit {2}enter/);
        const screen = view.screen();
        expect(screen.filter((line) => line.startsWith("project"))).toHaveLength(1);
        for (const line of screen) expect(widthOf(line)).toBeLessThanOrEqual(columns);
      }
    });

    test("reports on the normal screen that a project can't start", async ({ project }) => {
      project.write("config.toml", "workQueueSize = 'much'\n");
      const view = project.start();
      await view.until(/^error: config.toml:1:\d+[^]*exit 1/m);
      expect(view.raw()).not.toContain("\u001b[?1049h");
    });
  },
);
