import { execFileSync } from "node:child_process";

const path = new URL("../../../../src/interfaces/cli/start/give-memory-back.ts", import.meta.url);
const header = (process.report.getReport() as { readonly header: object }).header;

/** MB that a process still takes when it has freed 19 of each 20 small blocks. */
function residentMb(then: string): number {
  const program = `
    import { setImmediate as turn } from "node:timers/promises";
    import { returnHoles } from ${JSON.stringify(path.href)};
    let made = Array.from({ length: 200_000 }, () => new ArrayBuffer(700));
    const kept = made.filter((_, at) => at % 20 === 0);
    made = null;
    for (let n = 0; n < 3; n++) { gc(); await turn(); }
    ${then}
    process.stdout.write(String(process.memoryUsage.rss() / 1024 / 1024 + 0 * kept.length));`;
  const args = ["--expose-gc", "--input-type=module", "--eval", program];
  return Number(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

test.skipIf(!("glibcVersionRuntime" in header))(
  "memory that lies freed between blocks in use goes back to the system",
  () => expect(residentMb("returnHoles();")).toBeLessThan(residentMb("") - 50),
);
