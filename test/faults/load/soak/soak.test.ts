import { isLong } from "../../../helpers/long.ts";
import { runSoak } from "./run-soak.ts";
import { leaks } from "./verdict.ts";

/** `AL_SOAK_MINUTES=60` for an hour. */
const minutes = Number(process.env.AL_SOAK_MINUTES ?? (isLong ? 5 : 0));

test.runIf(minutes > 0)(
  "webhooks, runs, edits and streams leave no memory, files or processes behind",
  async () => {
    const { samples, answers, edits } = await runSoak(minutes);
    expect(leaks(samples)).toEqual([]);
    expect(Object.keys(answers).sort()).toEqual(["200", "401"]);
    expect(answers[200]).toBeGreaterThan(minutes * 500);
    expect(edits).toBeGreaterThan(minutes * 20);
    const [late] = samples.map(({ lateMs }) => lateMs).sort((a, b) => b - a);
    expect(late).toBeLessThan(50);
  },
  (minutes + 5) * 60_000,
);
