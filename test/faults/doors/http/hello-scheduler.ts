import { copyProject, startTestScheduler, type TestScheduler } from "../../../helpers/scheduler.ts";

/** A live scheduler on a copy of examples/hello for all tests of a file; hands it on once it is there. */
export function withHelloScheduler(use: (scheduler: TestScheduler) => void): void {
  let scheduler: TestScheduler | undefined;
  beforeAll(async () => {
    scheduler = await startTestScheduler(await copyProject("examples/hello"));
    use(scheduler);
  });
  afterAll(async () => {
    await scheduler?.stop();
    await scheduler?.project.remove();
  });
}
