import { execFileSync } from "node:child_process";

const path = new URL("../../../../src/interfaces/cli/start/give-memory-back.ts", import.meta.url);
const header = (process.report.getReport() as { readonly header: object }).header;

/** The output of a program that may call the module's functions, `gc` and `wait`. */
function printed(program: string): unknown {
  const imports = `
    import { setTimeout as wait } from "node:timers/promises";
    import { giveMemoryBack, returnHoles } from ${JSON.stringify(path.href)};
    const mb = () => process.memoryUsage.rss() / 1024 / 1024;`;
  const args = ["--expose-gc", "--input-type=module", "--eval", imports + program];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

/** MB that a process still takes when it has freed 19 of each 20 small blocks. */
function residentMb(then: string): number {
  const program = `
    let made = Array.from({ length: 200_000 }, () => new ArrayBuffer(700));
    const kept = made.filter((_, at) => at % 20 === 0);
    made = null;
    for (let n = 0; n < 3; n++) { gc(); await wait(0); }
    ${then}
    process.stdout.write(String(mb() + 0 * kept.length));`;
  return printed(program) as number;
}

test.skipIf(!("glibcVersionRuntime" in header))(
  "an idle scheduler returns freed memory between used blocks to the system",
  () => expect(residentMb("returnHoles();")).toBeLessThan(residentMb("") - 50),
);

test("an idle scheduler returns memory to the system after a burst of work", () => {
  const [burst, rest] = printed(`
    giveMemoryBack(500);
    await wait(2_000);
    const before = mb();
    let made = Array.from({ length: 1_000_000 }, (_, n) => ({ n, text: String(n) }));
    const burst = mb() - before;
    made = null;
    for (let n = 0; n < 40 && mb() - before > 20; n++) await wait(500);
    process.stdout.write(JSON.stringify([burst, mb() - before]));`) as [number, number];
  expect(burst).toBeGreaterThan(50);
  expect(rest).toBeLessThan(20);
});
