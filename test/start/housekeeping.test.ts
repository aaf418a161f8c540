import { housekeeping } from "../../src/start/housekeeping.ts";
import { project, usualProject } from "../foundation/config/samples.ts";
import { marbles } from "../helpers/marbles.ts";
import { tempStore } from "../foundation/store/support.ts";
import { tempDir } from "../helpers/temp-dir.ts";

test.each([
  ["40s", [30_000]],
  ["20s", []],
])(
  "a scheduler that starts to stop after %s has recorded that it was alive at %j ms",
  (stop, expected) => {
    const dir = tempDir();
    const { settings, prune } = tempStore(dir);
    const times: number[] = [];
    marbles(({ cold, flush, scheduler }) => {
      const recordAlive = () => {
        times.push(scheduler.now());
        return settings.recordAlive(scheduler.now());
      };
      const store = { settings: { ...settings, recordAlive }, prune };
      const project$ = { value: project(usualProject) };
      const stopping$ = cold(`${stop} (a|)`);
      const ignored = (): void => undefined;
      const deps = {
        projectDir: dir,
        store,
        project$,
        stopping$,
        sweep: () => Promise.resolve(),
        onPruned: ignored,
        warn: ignored,
      };
      const subscription = housekeeping(deps).subscribe();
      scheduler.schedule(() => subscription.unsubscribe(), 50_000);
      flush();
    });
    expect(times).toEqual(expected);
  },
);
