import { forAll, LiveProject } from "../../../helpers/live-project.ts";
import type { TestScheduler } from "../../../helpers/scheduler.ts";

/** A live scheduler on a copy of examples/hello for all tests of a file. */
export function helloScheduler(): () => TestScheduler {
  let project: LiveProject;
  forAll(async () => {
    project = await LiveProject.copy("examples/hello");
    await project.start();
  });
  return () => project.scheduler;
}
